//! Bad input is named in one line, and what was applied is reported all the same.

use std::net::TcpListener;

use corelane_examples::feed::{Generator, InstrumentId, Update};
use serde_json::{Value, json};

use crate::program::{Ended, Program};
use crate::scratch::Scratch;
use crate::texts::{FIXTURE_SHA256, books_of, feed_text, fixture, fixture_books, gzip, text};

/// Replays `files` and gives the report that was written.
fn replay(scratch: &Scratch, files: &[&str], options: &[&str]) -> (Ended, Value) {
    let json = scratch.path("report.json");
    let args = ["--json", &json, "--replay"].into_iter();
    let args = args.chain(files.iter().copied());
    let ended = Program::run(args.chain(options.iter().copied()));
    let report = scratch.json("report.json");
    (ended, report)
}

/// The fixture with a torn line behind each of the first twenty.
fn torn_fixture() -> Vec<u8> {
    let whole = std::fs::read(fixture()).unwrap();
    let mut torn = Vec::new();
    for (number, line) in whole.split_inclusive(|byte| *byte == b'\n').enumerate() {
        torn.extend(line);
        if number < 20 {
            torn.extend(&line[..30]);
            torn.push(b'\n');
        }
    }
    torn
}

#[test]
fn malformed_lines_are_counted_and_the_first_are_shown() {
    let scratch = Scratch::new();
    let file = scratch.file("torn.log", &torn_fixture());
    let (ended, report) = replay(&scratch, &[&file], &[]);
    ended.expect_status(0);
    assert_eq!(
        (&report["malformed"], &report["books"]),
        (&json!(20), &fixture_books())
    );
    let lines: Vec<_> = ended.stderr.lines().collect();
    assert_eq!(lines.len(), 10, "{ended:#?}");
    for (number, line) in lines.iter().enumerate() {
        let begin = format!("market-feed: {file}: line {}: ", 2 * (number + 1));
        assert!(line.starts_with(&begin), "{line}");
    }
}

#[test]
fn the_first_malformed_line_ends_a_strict_run() {
    let scratch = Scratch::new();
    let file = scratch.file("torn.log", &torn_fixture());
    for shards in ["1", "2"] {
        let (ended, report) = replay(&scratch, &[&file], &["--strict", "--shards", shards]);
        ended.expect_status(2);
        let begin = format!("market-feed: {file}: line 2: ");
        assert!(ended.one_line().starts_with(&begin), "{ended:#?}");
        assert_eq!(
            (&report["malformed"], &report["updates"]),
            (&json!(1), &json!(1))
        );
        assert!(ended.stdout.contains("1 malformed"), "{ended:#?}");
    }
}

#[test]
fn a_strict_run_without_malformed_lines_is_like_any_other() {
    let scratch = Scratch::new();
    let path = fixture();
    let (ended, report) = replay(&scratch, &[path.to_str().unwrap()], &["--strict"]);
    ended.expect_status(0);
    assert_eq!(report["books"], fixture_books());
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_the_others_are_used() {
    let scratch = Scratch::new();
    let (missing, directory) = (scratch.path("missing.log"), scratch.path(""));
    let good = fixture();
    let good = good.to_str().unwrap();
    for (file, reason) in [(&missing, "No such file"), (&directory, "Is a directory")] {
        let (ended, report) = replay(&scratch, &[file, good], &[]);
        ended.expect_status(2);
        let line = ended.one_line();
        assert!(
            line.starts_with(&format!("market-feed: {file}: ")),
            "{line}"
        );
        assert!(line.contains(reason), "{line}");
        assert_eq!(report["books"][0]["sha256"], FIXTURE_SHA256);
    }
}

#[test]
fn a_broken_gzip_is_named_and_used_up_to_where_it_breaks() {
    let scratch = Scratch::new();
    let zipped = gzip(&feed_text(20_000));
    let truncated = scratch.file("truncated.gz", &zipped[..zipped.len() / 2]);
    let mut bytes = zipped.clone();
    // The checksum, so that it shows at the very end.
    bytes[zipped.len() - 8] ^= 1;
    let broken = scratch.file("broken.gz", &bytes);
    for (file, reason) in [(&truncated, "is truncated"), (&broken, "is broken")] {
        let (ended, report) = replay(&scratch, &[file], &[]);
        ended.expect_status(2);
        let line = ended.one_line();
        assert!(
            line.starts_with(&format!("market-feed: {file}: ")),
            "{line}"
        );
        assert!(line.contains(reason), "{line}");
        let updates = report["updates"].as_u64().unwrap();
        assert!((5_000..=20_000).contains(&updates), "{updates}");
        assert!(ended.stdout.contains("updates "), "{ended:#?}");
    }
}

#[test]
fn what_stands_behind_a_gzip_is_padding_or_is_named() {
    let scratch = Scratch::new();
    let mut text = std::fs::read(fixture()).unwrap();
    // The last line has no end, and counts all the same.
    assert_eq!(text.pop(), Some(b'\n'));
    let zipped = gzip(&text);
    let padded = scratch.file("padded.gz", &[&zipped[..], &[0; 1_000]].concat());
    let (ended, report) = replay(&scratch, &[&padded], &[]);
    ended.expect_status(0);
    assert_eq!(report["books"], fixture_books());
    let behind = scratch.file("behind.gz", &[&zipped[..], b"and more"].concat());
    let (ended, report) = replay(&scratch, &[&behind], &[]);
    ended.expect_status(2);
    let line = format!("market-feed: {behind}: data after the end of the gzip stream");
    assert_eq!(ended.one_line(), line);
    assert_eq!(report["books"], fixture_books());
}

#[test]
fn a_gap_is_counted_and_heals_at_the_next_snapshot() {
    let gold = InstrumentId::named("GC".parse().unwrap()).unwrap();
    let mut feed = Generator::of(5, gold);
    let mut updates: Vec<Update> = feed.by_ref().take(500).collect();
    let is_depth = |update: &Update| matches!(update, Update::Depth(_));
    let lost = updates.iter().rposition(is_depth).unwrap();
    updates.remove(lost);
    updates.extend(feed.by_ref().take(50));
    let healed = feed.snapshot(gold);
    updates.push(healed);
    updates.extend(feed.take(100));
    let text = text(updates);
    let scratch = Scratch::new();
    let file = scratch.file("gap.log", &text);
    let (ended, report) = replay(&scratch, &[&file], &[]);
    ended.expect_status(0);
    assert_eq!(
        (&report["gaps"], &report["books"][0]["gaps"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(report["books"], books_of([&text[..]]));

    // Without the hole, the book ends the same.
    let whole: Vec<_> = Generator::of(5, gold).take(650).collect();
    let file = scratch.file("whole.log", &crate::texts::text(whole));
    let (_, other) = replay(&scratch, &[&file], &[]);
    assert_eq!(other["gaps"], 0);
    assert_eq!(other["books"][0]["sha256"], report["books"][0]["sha256"]);
}

#[test]
fn odd_files_do_no_harm() {
    let mut long = feed_text(10);
    long.extend(b"1 {\"stream\":\"");
    long.resize(long.len() + (16 << 20), b'x');
    long.push(b'\n');
    long.extend(feed_text(10));
    let without: Vec<_> = Generator::new(3)
        .filter(|update| !matches!(update, Update::Snapshot(_)))
        .take(3_000)
        .collect();
    let scratch = Scratch::new();
    let long = scratch.file("long.log", &long);
    let empty = scratch.file("empty.log", b"");
    let without = scratch.file("without.log", &text(without));
    for (file, malformed, updates, books) in [
        (&long, 1, 20, 5),
        (&empty, 0, 0, 0),
        (&without, 0, 3_000, 5),
    ] {
        let (ended, report) = replay(&scratch, &[file], &[]);
        ended.expect_status(0);
        assert_eq!(report["malformed"], malformed, "{file}");
        assert_eq!(report["updates"], updates, "{file}");
        assert_eq!(report["books"].as_array().unwrap().len(), books, "{file}");
    }
}

#[test]
fn a_taken_port_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap().to_string();
    for option in ["--serve", "--listen"] {
        for driver in crate::program::drivers() {
            let ended = Program::run([option, &addr, "--driver", driver]);
            ended.expect_status(2);
            let line = ended.one_line();
            let begin = format!("market-feed: {option} {addr}: ");
            assert!(line.starts_with(&begin), "{line}");
            assert!(line.contains("in use"), "{line}");
        }
    }
}

#[test]
fn a_bad_command_line_is_named() {
    for (args, named) in [
        (&["--bogus"][..], "--bogus"),
        (&["--shards", "0"], "--shards"),
        (&["--replay", "a", "--listen", "127.0.0.1:0"], "--listen"),
        (&["--json", "/nowhere/report.json"], "/nowhere/report.json"),
    ] {
        let ended = Program::run(args);
        ended.expect_status(2);
        assert!(ended.one_line().contains(named), "{ended:#?}");
        assert_eq!(ended.stdout, "");
    }
}
