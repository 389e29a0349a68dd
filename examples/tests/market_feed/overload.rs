//! The embedded feed at a pace that no owner keeps: what is refused is told, and every book heals.

use serde_json::{Value, json};

use crate::program::Program;
use crate::scratch::Scratch;

fn sum(list: &Value, keys: &[&str]) -> u64 {
    let rows = list.as_array().unwrap().iter();
    rows.flat_map(|row| keys.iter().map(|key| row[*key].as_u64().unwrap()))
        .sum()
}

#[test]
fn whatever_the_rings_refuse_the_books_end_whole() {
    for shards in ["1", "2"] {
        let scratch = Scratch::new();
        let json = scratch.path("report.json");
        // A feed with a pace of its own is a wire: it waits for nobody.
        let pace = ["--speed", "1000000x", "--seconds", "0.5"];
        let options = ["--shards", shards, "--json", &json];
        let ended = Program::run(pace.into_iter().chain(options));
        ended.expect_status(0);

        let report = scratch.json("report.json");
        let (books, rings) = (&report["books"], &report["rings"]);
        for book in books.as_array().unwrap() {
            assert_eq!((&book["bids"], &book["asks"]), (&json!(10), &json!(10)));
        }
        // What is refused of words is lost; fills wait.
        let words = |ring: &&Value| ring["name"] == "words";
        let words: Vec<_> = rings.as_array().unwrap().iter().filter(words).collect();
        let refused = sum(&json!(words), &["refused"]);
        let fills = sum(&json!([report["fills"]]), &["timed_out", "broken"]);
        assert_eq!(report["refused"], refused + fills, "{report:#}");
        // Every gap is healed by an answer, and each book has an opening snapshot. A hole that no
        // word shows, since it is the last, is closed unasked.
        let gaps = sum(books, &["gaps"]);
        let snapshots = report["holes"]["snapshots"].as_u64().unwrap();
        let count = books.as_array().unwrap().len() as u64;
        assert!(
            (gaps + count..=gaps + 2 * count).contains(&snapshots),
            "{report:#}"
        );
        assert!(refused > 0 || (gaps, snapshots) == (0, count), "{report:#}");
        // The word behind a hole is older than the answer: it is applied to no book.
        let counted = sum(books, &["applied", "stale", "trades", "tickers"]) + snapshots;
        assert_eq!(report["updates"], counted, "{report:#}");
        assert_eq!(sum(books, &["stale"]), gaps, "{report:#}");
    }
}
