//! A replay ends in the same books on every driver, with any number of shards, at any speed.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::program::{Program, drivers};
use crate::scratch::Scratch;
use crate::texts::{FIXTURE_SHA256, captures, fixture, fixture_books, gzip};

/// Replays `files` in every way and gives the reports.
fn replays(files: &[PathBuf], speed: &str, options: &[String]) -> Vec<Value> {
    let scratch = Scratch::new();
    let mut reports = Vec::new();
    for driver in drivers() {
        // Those with 1, 2 and 4 shards at once: more shards than cores is a case too.
        let programs = [1, 2, 4].map(|shards| {
            let json = scratch.path(&format!("{driver}-{shards}.json"));
            let shards = shards.to_string();
            let files = files.iter().map(|path| path.to_str().unwrap());
            let args = ["--speed", speed, "--driver", driver, "--shards", &shards];
            let args = args.into_iter().chain(["--json", &json, "--replay"]);
            let options = options.iter().map(String::as_str);
            Program::start(args.chain(files).chain(options))
        });
        for (shards, program) in [1, 2, 4].into_iter().zip(programs) {
            let ended = program.end();
            ended.expect_status(0);
            assert_eq!(ended.stderr, "");
            let report = scratch.json(&format!("{driver}-{shards}.json"));
            assert_eq!(report["driver"]["name"], *driver);
            assert_eq!(report["shards"], shards);
            reports.push(report);
        }
    }
    reports
}

fn expect(report: &Value, books: &Value, updates: u64) {
    assert_eq!(&report["books"], books);
    assert_eq!(report["updates"], updates);
    for nothing in ["gaps", "malformed", "refused"] {
        assert_eq!(report[nothing], 0, "{nothing}");
    }
}

#[test]
fn the_fixture_ends_in_its_book() {
    let expected = ["--expect-sha256".to_owned(), format!("ES={FIXTURE_SHA256}")];
    let books = fixture_books();
    assert_eq!(books[0]["sha256"], FIXTURE_SHA256);
    for speed in ["max", "100x"] {
        for report in replays(&[fixture()], speed, &expected) {
            expect(&report, &books, 401);
        }
    }
}

#[test]
fn a_gzip_replays_like_its_text() {
    let scratch = Scratch::new();
    let zipped = scratch.file("es.gz", &gzip(&std::fs::read(fixture()).unwrap()));
    for report in replays(&[zipped.into()], "max", &[]) {
        expect(&report, &fixture_books(), 401);
    }
}

/// The table that the captures came with, and what an independent script found in them.
fn capture_books() -> Value {
    json!([
        {
            "symbol": "BTCUSDT", "bids": 1209, "asks": 2196,
            "best_bid": 61685.99, "best_ask": 61686, "last_id": 50_093_421_584_u64,
            "applied": 3449, "stale": 2, "gaps": 0, "level_changes": 124_073,
            "trades": 9757, "volume": 212.03315, "tickers": 28_040,
            "sha256": "c16f563d045838d7c4fb8f299eef71b29fadd299d1cc008065f55db839aa4885",
        },
        {
            "symbol": "ETHUSDT", "bids": 1195, "asks": 1158,
            "best_bid": 2682.5, "best_ask": 2682.51, "last_id": 35_346_671_849_u64,
            "applied": 3432, "stale": 2, "gaps": 0, "level_changes": 106_802,
            "trades": 6106, "volume": 2261.3149, "tickers": 24_077,
            "sha256": "5dcf794e6dfabbf77ae084bc3fdecfa82e212d4333176d59ff6c8a24fb0dd18f",
        },
    ])
}

fn expect_captures(speed: &str) {
    let Some(files) = captures() else { return };
    for report in replays(&files, speed, &[]) {
        expect(&report, &capture_books(), 41_249 + 33_618);
    }
}

#[test]
fn the_captures_end_in_the_published_books_at_full_speed() {
    expect_captures("max");
}

#[test]
fn the_captures_end_in_the_published_books_at_a_hundred_times_their_speed() {
    expect_captures("100x");
}

#[test]
fn one_file_twice_is_one_book_that_finds_the_second_half_stale() {
    let path = fixture();
    let path = path.to_str().unwrap();
    let scratch = Scratch::new();
    let json = scratch.path("report.json");
    let args = ["--json", &json, "--replay", path, path, "--shards", "2"];
    let ended = Program::run(args);
    ended.expect_status(0);
    let report = scratch.json("report.json");
    assert_eq!(report["updates"], 802);
    assert_eq!(report["books"][0]["sha256"], FIXTURE_SHA256);
    assert_eq!(report["books"][0]["trades"], 106);
}

#[test]
fn a_book_with_another_hash_ends_with_status_one_and_both_hashes() {
    let path = fixture();
    let other = "0".repeat(64);
    let ended = Program::run([
        "--replay",
        path.to_str().unwrap(),
        "--expect-sha256",
        &format!("ES={other}"),
    ]);
    ended.expect_status(1);
    assert_eq!(
        ended.one_line(),
        format!("market-feed: ES: expected sha256 {other}, found {FIXTURE_SHA256}")
    );
    assert!(ended.stdout.contains("updates      401 "), "{ended:#?}");
}

#[test]
fn a_slow_replay_ends_when_its_time_is_over() {
    let path = fixture();
    let scratch = Scratch::new();
    let json = scratch.path("report.json");
    // At this speed the second line of the fixture is due in a thousand seconds.
    let replay = ["--replay", path.to_str().unwrap(), "--speed", "0.000001x"];
    let args = replay
        .into_iter()
        .chain(["--seconds", "0.2", "--json", &json]);
    Program::run(args).expect_status(0);
    let report = scratch.json("report.json");
    assert_eq!(report["updates"], 1);
    assert!(report["seconds"].as_f64().unwrap() >= 0.2);
}
