//! Feeds as text, and the books that they lead to.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use corelane_examples::feed::{
    BookReport, Books, Decoder, Generator, KEPT_UPDATES_MAX, Update, write_line,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

/// The recorded fixture: one future, whose snapshot comes late and without a symbol.
pub(crate) fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/es.log")
}

pub(crate) const FIXTURE_SHA256: &str =
    "0589dcda5c3628357ad6bba8aa400fb9df55f4f3639dd4ad9a2dc8a16e208a6e";

/// The captures, where this machine has them beside the repository.
pub(crate) fn captures() -> Option<[PathBuf; 2]> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    if !data.exists() {
        eprintln!("{} is not here; the fixture stands for it", data.display());
        return None;
    }
    Some(["btcusdt_20240808_spot.gz", "ethusdt_20240808_spot.gz"].map(|name| data.join(name)))
}

/// Updates as lines that the service reads, a ms apart.
pub(crate) fn text(updates: impl IntoIterator<Item = Update>) -> Vec<u8> {
    let mut text = Vec::new();
    for (received_ns, update) in (1_000_000..).step_by(1_000_000).zip(updates) {
        write_line(&mut text, received_ns, &update).unwrap();
    }
    text
}

/// The first updates of the embedded feed, as text.
pub(crate) fn feed_text(updates: usize) -> Vec<u8> {
    text(Generator::new(7).take(updates))
}

pub(crate) fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// The books of the inputs, made on this thread, as the report has them.
pub(crate) fn books_of<'a>(inputs: impl IntoIterator<Item = &'a [u8]>) -> Value {
    let mut books = Books::new(KEPT_UPDATES_MAX);
    for mut text in inputs {
        let mut decoder = Decoder::default();
        while let Some(received) = decoder.decode(&mut text).or_else(|| decoder.finish()) {
            books.apply(received.unwrap().update).unwrap();
        }
    }
    let mut reports: Vec<_> = books.iter().map(BookReport::from).collect();
    reports.sort_by_key(|report| report.symbol);
    serde_json::to_value(reports).unwrap()
}

pub(crate) fn fixture_books() -> Value {
    books_of([&fs::read(fixture()).unwrap()[..]])
}
