//! Replays end in exactly the books that independent scripts computed.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use corelane_examples::feed::{BookReport, Generator, InputEnd, InstrumentId, Update, write_line};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::support::{Scratch, replay, symbol};

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/es.log")
}

/// The fixture, as it was made: one future, whose snapshot comes late and without a symbol.
///
/// It holds twenty updates that came before the snapshot, twelve of which are in it.
fn fixture_text() -> Vec<u8> {
    const UPDATES: usize = 400;
    let es = symbol("ES");
    let id = InstrumentId::named(es).unwrap();
    let mut feed = Generator::new(20_261_130);
    let mut updates = Vec::new();
    let mut book = None;
    while updates.len() < UPDATES {
        let update = feed.next().unwrap();
        if update.symbol() == es && !matches!(update, Update::Snapshot(_)) {
            updates.push(update);
        }
        if updates.len() == 12 && book.is_none() {
            book = Some(feed.snapshot(id));
        }
    }
    updates.insert(20, book.unwrap());
    let mut text = Vec::new();
    for (received_ns, update) in (1_796_000_000_000_000_000..)
        .step_by(1_000_000)
        .zip(updates)
    {
        write_line(&mut text, received_ns, &update).unwrap();
    }
    let text = String::from_utf8(text).unwrap();
    text.replace(r#"{"symbol":"ES","lastUpdateId""#, r#"{"lastUpdateId""#)
        .into_bytes()
}

fn expect_book(path: &Path, expected: &Value) {
    let replayed = replay(path);
    assert_eq!(replayed.end.unwrap(), InputEnd::Complete);
    assert!(replayed.malformed.is_empty(), "{:?}", replayed.malformed);
    let reports: Vec<_> = replayed.books.iter().map(BookReport::from).collect();
    let [report] = &reports[..] else {
        panic!("one book, not {}", reports.len())
    };
    assert_eq!(&serde_json::to_value(report).unwrap(), expected);
    let book = replayed.books.iter().next().unwrap();
    assert!(book.is_current());
    assert_eq!(book.kept_updates(), 0);
}

fn fixture_book() -> Value {
    json!({
        "symbol": "ES", "bids": 10, "asks": 10,
        "best_bid": 6047, "best_ask": 6047.25, "last_id": 554402,
        "applied": 311, "stale": 10, "gaps": 0, "level_changes": 673,
        "trades": 53, "volume": 7432, "tickers": 26,
        "sha256": "0589dcda5c3628357ad6bba8aa400fb9df55f4f3639dd4ad9a2dc8a16e208a6e",
    })
}

#[test]
fn the_fixture_is_what_its_seed_gives() {
    let made = fixture_text();
    if std::env::var_os("CORELANE_BLESS").is_some() {
        fs::write(fixture(), &made).unwrap();
    }
    assert!(
        made == fs::read(fixture()).unwrap(),
        "CORELANE_BLESS=1 writes the fixture anew"
    );
}

#[test]
fn the_fixture_ends_in_the_book_of_an_independent_script() {
    expect_book(&fixture(), &fixture_book());
}

#[test]
fn a_gzip_of_two_members_reads_like_the_plain_file() {
    let text = fs::read(fixture()).unwrap();
    let (first, second) = text.split_at(text.len() / 3);
    let mut zipped = Vec::new();
    for part in [first, second] {
        let mut encoder = GzEncoder::new(&mut zipped, Compression::default());
        encoder.write_all(part).unwrap();
        encoder.finish().unwrap();
    }
    let scratch = Scratch::new();
    expect_book(&scratch.file("es.log.gz", &zipped), &fixture_book());
}

/// The captures lie beside the repository on machines that have them; the fixture is always here.
#[test]
fn the_captures_end_in_the_published_books() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    if !data.exists() {
        eprintln!("{} is not here; the fixture stands for it", data.display());
        return;
    }
    expect_book(
        &data.join("btcusdt_20240808_spot.gz"),
        &json!({
            "symbol": "BTCUSDT", "bids": 1209, "asks": 2196,
            "best_bid": 61685.99, "best_ask": 61686, "last_id": 50_093_421_584_u64,
            "applied": 3449, "stale": 2, "gaps": 0, "level_changes": 124_073,
            "trades": 9757, "volume": 212.03315, "tickers": 28_040,
            "sha256": "c16f563d045838d7c4fb8f299eef71b29fadd299d1cc008065f55db839aa4885",
        }),
    );
    expect_book(
        &data.join("ethusdt_20240808_spot.gz"),
        &json!({
            "symbol": "ETHUSDT", "bids": 1195, "asks": 1158,
            "best_bid": 2682.5, "best_ask": 2682.51, "last_id": 35_346_671_849_u64,
            "applied": 3432, "stale": 2, "gaps": 0, "level_changes": 106_802,
            "trades": 6106, "volume": 2261.3149, "tickers": 24_077,
            "sha256": "5dcf794e6dfabbf77ae084bc3fdecfa82e212d4333176d59ff6c8a24fb0dd18f",
        }),
    );
}
