//! The table of capacities: what is counted in it. Times are never judged.

use serde_json::Value;

use crate::program::Program;
use crate::scratch::Scratch;

#[test]
fn a_sweep_shows_and_writes_a_row_a_capacity() {
    let scratch = Scratch::new();
    let json = scratch.path("sweep.json");
    let options = ["--sweep", "--sweep-updates", "20001", "--sweep-rounds", "2"];
    let ended = Program::run(options.into_iter().chain(["--json", &json]));
    ended.expect_status(0);
    assert!(ended.stderr.contains("round 2 of 2"), "{ended:#?}");

    let sweep = scratch.json("sweep.json");
    let facts = ["decoders", "updates", "rounds"].map(|key| sweep[key].as_u64());
    assert_eq!(facts, [Some(4), Some(20_001), Some(2)]);
    let rows = sweep["rows"].as_array().unwrap();
    let count = |row: &Value, key: &str| row[key].as_u64().unwrap();
    let capacities: Vec<_> = rows.iter().map(|row| count(row, "capacity")).collect();
    assert_eq!(capacities, [1024, 2048, 4096, 8192, 16_384, 32_768, 65_536]);
    for row in rows {
        assert!((1..=count(row, "capacity")).contains(&count(row, "peak")));
        assert!(count(row, "p50_ns") <= count(row, "p99_ns"), "{row:#}");
        // A ring that has refused again and again was full.
        let is_full = count(row, "peak") == count(row, "capacity");
        assert!(count(row, "refused") < 100 || is_full, "{row:#}");
        let bound_ns = row["drain_ns"].as_f64().unwrap() * row["capacity"].as_f64().unwrap();
        assert_eq!(count(row, "bound_ns"), bound_ns as u64);
        let shown = format!("{:>8}  ", count(row, "capacity"));
        assert!(ended.stdout.contains(&shown), "{ended:#?}");
    }
}
