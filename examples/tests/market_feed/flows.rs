//! What the shards share: the counts of signals and topic agree with the books, whoever is behind.

use std::io::Write;

use serde_json::Value;

use crate::clients::{Readers, connect, finish};
use crate::program::{Program, drivers};
use crate::scratch::Scratch;
use crate::serving::expect_told;
use crate::texts::{books_of, feed_text, fixture};

/// How a run comes to its end.
#[derive(Clone, Copy)]
enum End {
    /// Its input ends.
    ByItself,
    /// It is ended once its line a second does not say this any more.
    Unless(&'static str),
}

/// Runs the service with these options on every driver with one and with two shards.
fn reports(options: &[&str], end: End, mut expect: impl FnMut(&Value, u64)) {
    for driver in drivers() {
        for shards in 1..=2_u64 {
            let scratch = Scratch::new();
            let (json, count) = (scratch.path("report.json"), shards.to_string());
            let on = ["--driver", driver, "--shards", &count, "--json", &json];
            let program = Program::start(options.iter().copied().chain(on));
            let ended = match end {
                End::ByItself => program.end(),
                End::Unless(nothing) => {
                    while program.hear("    ").contains(nothing) {}
                    program.interrupt()
                }
            };
            ended.expect_status(0);
            assert_eq!(ended.stderr, "");
            let report = scratch.json("report.json");
            expect_balance(&report, shards);
            expect(&report, shards);
        }
    }
}

/// Every trade in a book was published, and every shard got or lost it; every set is a version.
fn expect_balance(report: &Value, shards: u64) {
    let count = |value: &Value| value.as_u64().unwrap();
    let books = report["books"].as_array().unwrap();
    let applied: u64 = books.iter().map(|book| count(&book["trades"])).sum();
    let trades = &report["trades"];
    assert_eq!(trades["published"], applied, "{report:#}");
    let readers = trades["readers"].as_array().unwrap();
    assert_eq!(readers.len() as u64, shards);
    for reader in readers {
        let got = count(&reader["delivered"]) + count(&reader["dropped"]);
        assert_eq!(got, applied, "{report:#}");
    }
    let tops = &report["tops"];
    assert_eq!(tops["sets"], tops["versions"], "{report:#}");
    let priced = books.iter().filter(|book| book["best_bid"].is_number());
    assert_eq!(tops["signals"], priced.count(), "{report:#}");
    // Each shard follows each signal from some version on.
    let followed = count(&tops["followed"]) + count(&tops["skipped"]);
    assert!(followed <= shards * count(&tops["sets"]), "{report:#}");
}

#[test]
fn nothing_is_lost_where_the_books_wait_for_the_readers() {
    let options = ["--seconds", "600", "--trades-capacity", "1"];
    let end = End::Unless("trades 0 dropped");
    reports(&options, end, |report, _| {
        assert!(report["trades"]["published"].as_u64() > Some(0));
        let lost = |reader: &Value| reader["dropped"] != 0;
        let readers = report["trades"]["readers"].as_array().unwrap();
        assert!(!readers.iter().any(lost), "{report:#}");
    });
}

#[test]
fn what_readers_lose_is_counted_where_the_books_do_not_wait() {
    for policy in ["drop-new", "drop-oldest"] {
        let options = ["--seconds", "600", "--trades-capacity", "1"];
        let options = [&options[..], &["--trades-overflow", policy]].concat();
        // The books publish several at once, and nobody keeps more than one.
        reports(&options, End::Unless("dropped 0"), |report, _| {
            assert_eq!(report["trades"]["overflow"], policy);
            let readers = report["trades"]["readers"].as_array().unwrap();
            let sum = |key: &str| -> u64 {
                let counts = readers.iter().map(|reader| reader[key].as_u64());
                counts.map(Option::unwrap).sum()
            };
            assert!(sum("dropped") > 0, "{report:#}");
            let has_some = |reader: &Value| reader["delivered"] != 0;
            assert!(readers.iter().all(has_some), "{report:#}");
        });
    }
}

#[test]
fn every_shard_reads_a_recorded_feed_to_its_end() {
    let path = fixture();
    let options = ["--replay", path.to_str().unwrap()];
    reports(&options, End::ByItself, |report, _| {
        assert_eq!(report["trades"]["published"], 53);
        assert_eq!(report["refused"], 0);
    });
}

#[test]
fn subscribers_of_all_shards_are_told_what_their_shards_read() {
    let text = feed_text(3_000);
    let books = books_of([&text[..]]);
    for driver in drivers() {
        for shards in 1..=2_usize {
            let scratch = Scratch::new();
            let (json, count) = (scratch.path("report.json"), shards.to_string());
            let on = ["--driver", driver, "--shards", &count, "--json", &json];
            let addresses = ["--serve", "127.0.0.1:0", "--listen", "127.0.0.1:0"];
            let program = Program::start(addresses.into_iter().chain(on));
            let served = program.address("serving");
            let mut input = connect(program.address("listening"));
            // Connections go round, so each shard has two.
            let mut readers = Readers::new();
            (0..2 * shards).for_each(|_| readers.subscribe(served));
            readers.warm_up(&mut input);
            input.write_all(&text).unwrap();
            finish(input);
            program.interrupt().expect_status(0);
            let report = scratch.json("report.json");
            expect_balance(&report, shards as u64);
            for told in readers.end() {
                expect_told(&told, &books);
            }
            // Every shard has followed every signal to its end.
            let followed = report["tops"]["followed"].as_u64().unwrap();
            assert!(followed >= 5 * shards as u64, "{report:#}");
        }
    }
}
