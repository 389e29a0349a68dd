//! A quick run of our own binary: every kind of row gives a checked result.

use std::path::{Path, PathBuf};

use corelane_bench_harness::{Plan, Row, run};

fn plan(suites: &[&str], out: &Path) -> Plan {
    Plan {
        suites: suites.iter().map(|suite| (*suite).to_owned()).collect(),
        quick: true,
        pairs: Some(1),
        shards: vec![1],
        who: None,
        add: false,
        out: out.to_owned(),
    }
}

fn results(suite: &str, out: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(out.join(format!("{suite}.json")))
        .expect("a run writes a file for each of its suites");
    serde_json::from_str(&text).expect("the file is an array of rows")
}

fn twin() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_scaling"))
}

#[test]
fn rounds_served_rows_and_churn_give_checked_rows() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("suite_run");
    let rows = [
        "lanes/round_trip",
        "runtime/spawn_join",
        "tcp/echo_64b_c1_park",
        "tcp/echo_64b_c64",
        "tcp/accept_churn",
        "rings/fold_1000",
    ];
    run(&plan(&rows, &out), &[twin()]).unwrap();
    let mut seen = Vec::new();
    for suite in ["lanes", "runtime", "tcp", "rings"] {
        for row in results(suite, &out) {
            assert!(row.checked && row.value > 0.0, "{row:?}");
            assert!(row.who.starts_with("corelane"), "{row:?}");
            // Allocations are counted, since the counting twin stands beside this one.
            assert!(row.alloc_b_per_op.is_some(), "{row:?}");
            seen.push(format!("{}/{}", row.suite, row.row));
        }
    }
    seen.dedup(); // several forms of ours do a row about rings
    assert_eq!(seen, rows);
    let page = std::fs::read_to_string(out.join("index.html")).unwrap();
    for row in rows {
        assert!(page.contains(row), "{row} is in the report");
    }
}

#[test]
fn a_row_that_nobody_knows_is_refused() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unknown");
    let error = run(&plan(&["tcp/none"], &out), &[twin()]).unwrap_err();
    assert_eq!(error.to_string(), "no such row: tcp/none");
}
