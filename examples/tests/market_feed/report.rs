//! What a run tells: the JSON report, its text, and the line a second.

use serde_json::{Value, json};

use crate::program::Program;
use crate::scratch::Scratch;

fn keys(value: &Value) -> String {
    let mut keys: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
    keys.sort();
    keys.join(" ")
}

#[test]
fn the_embedded_feed_shows_a_line_a_second_and_reports() {
    let scratch = Scratch::new();
    let json = scratch.path("report.json");
    let program = Program::start(["--seconds", "600", "--json", &json]);
    // A pipe is no terminal: the live line is a plain one.
    let live = program.hear("    ");
    let ended = program.interrupt();
    ended.expect_status(0);
    assert_eq!(ended.stderr, "");
    expect_live(&live);
    assert!(!ended.stdout.contains('\x1b'), "{ended:#?}");

    let report = scratch.json("report.json");
    assert_eq!(
        keys(&report),
        "age_ns books control driver fills gaps holes lane_peak limits malformed recording \
         refused relocations rings seconds shards subscribers tops trades updates updates_per_s"
    );
    assert_eq!(keys(&report["driver"]), "name reason");
    assert_eq!(keys(&report["age_ns"]), "max p50 p99 p999");
    assert_eq!(keys(&report["subscribers"]), "cut served");
    // Each shard has got the table of instruments once.
    assert_eq!(report["relocations"], report["shards"]);
    expect_rings(&report);
    expect_flows(&report);
    let books = report["books"].as_array().unwrap();
    let symbols: Vec<_> = books.iter().map(|book| &book["symbol"]).collect();
    assert_eq!(symbols, ["CL", "ES", "GC", "NQ", "ZN"]);
    for book in books {
        assert_eq!(
            keys(book),
            "applied asks best_ask best_bid bids gaps last_id level_changes sha256 stale symbol \
             tickers trades volume"
        );
        assert_eq!(
            (&book["bids"], &book["asks"]),
            (&Value::from(10), &Value::from(10))
        );
    }
    let seconds = report["seconds"].as_f64().unwrap();
    let rate = report["updates_per_s"].as_f64().unwrap();
    let updates = report["updates"].as_f64().unwrap();
    assert!((rate * seconds - updates).abs() < 1.0, "{report:#}");
    assert!(updates > 0.0 && seconds >= 1.0, "{report:#}");
    let counted: f64 = books
        .iter()
        .map(|book| {
            // The snapshot is an update too.
            ["applied", "trades", "tickers"]
                .iter()
                .map(|count| book[count].as_f64().unwrap())
                .sum::<f64>()
                + 1.0
        })
        .sum();
    assert_eq!(counted, updates);
}

/// The line a second has every kind of number.
fn expect_live(live: &str) {
    for part in [
        "/s",
        "age ",
        "ring ",
        "peak ",
        "gaps 0",
        "refused 0",
        "tops ",
        "trades ",
        "dropped 0",
        "limits v0 over 0",
        "control 0",
        "subs 0",
        "busy ",
    ] {
        assert!(live.contains(part), "{part} is missing in {live}");
    }
}

/// Signals and a topic whose counts agree with the books, on each shard.
fn expect_flows(report: &Value) {
    let tops = &report["tops"];
    assert_eq!(keys(tops), "followed reads sets signals skipped versions");
    assert_eq!(tops["signals"], 5);
    assert!(tops["sets"].as_u64() >= Some(5), "{tops:#}");
    assert_eq!(tops["sets"], tops["versions"]);
    // Nobody is served, so nobody follows.
    assert_eq!((&tops["followed"], &tops["reads"]), (&0.into(), &0.into()));

    let trades = &report["trades"];
    assert_eq!(keys(trades), "overflow published readers");
    assert_eq!(trades["overflow"], "backpressure");
    let books = report["books"].as_array().unwrap().iter();
    let applied: u64 = books.map(|book| book["trades"].as_u64().unwrap()).sum();
    assert_eq!(trades["published"], applied);
    let readers = trades["readers"].as_array().unwrap();
    assert_eq!(report["shards"], readers.len());
    for (shard, reader) in readers.iter().enumerate() {
        let expected = json!({ "shard": shard, "delivered": applied, "dropped": 0 });
        assert_eq!(*reader, expected);
    }
}

/// Rings that are empty at the end, have refused nothing, and know how old their oldest can be.
fn expect_rings(report: &Value) {
    let rings = report["rings"].as_array().unwrap();
    let named = |name: &str| rings.iter().filter(|ring| ring["name"] == name).count();
    // Two shards or more, or one: as many owners have both.
    assert!(named("words") > 0 && named("words") == named("fills"));
    for ring in rings {
        assert_eq!(
            keys(ring),
            "age_bound_ns capacity drain_ns name occupancy peak refused shard"
        );
        assert_eq!(
            (&ring["occupancy"], &ring["refused"]),
            (&0.into(), &0.into())
        );
        let (peak, capacity) = (ring["peak"].as_u64(), ring["capacity"].as_u64());
        assert!(peak > Some(0) && peak <= capacity, "{ring:#}");
        if let Some(drain_ns) = ring["drain_ns"].as_f64() {
            let bound_ns = drain_ns * ring["capacity"].as_f64().unwrap();
            let told_ns = ring["age_bound_ns"].as_f64().unwrap();
            assert!((bound_ns - told_ns).abs() <= 1.0, "{ring:#}");
        }
    }
    let snapshots = report["books"].as_array().unwrap().len();
    assert_eq!(
        report["holes"],
        json!({ "discarded": 0, "snapshots": snapshots })
    );
    assert_eq!(
        report["fills"],
        json!({ "broken": 0, "timed_out": 0, "trips": 0 })
    );
}

#[test]
fn help_and_version_end_with_status_zero() {
    for option in ["--help", "--version"] {
        let ended = Program::run([option]);
        ended.expect_status(0);
        assert!(ended.stdout.contains("market-feed"), "{ended:#?}");
        assert_eq!(ended.stderr, "");
    }
}
