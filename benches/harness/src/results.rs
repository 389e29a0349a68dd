//! Files of results: what a run writes for a suite, and what of an earlier run stays there.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::table::{Missing, RowResult};
use crate::{BenchError, Row, Sample, rows};

/// One side's rounds as they were, for plots and doubts.
#[derive(Serialize, Deserialize)]
struct Rounds {
    row: String,
    who: String,
    shards: usize,
    samples: Vec<Sample>,
    missing: Option<String>,
}

/// What of an earlier run's results stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    Nothing,
    OtherRows,
}

/// Where a row stands in its suite; rows that there are no more come last.
fn place(suite: &str, row: &str) -> usize {
    let place = rows().position(|spec| (spec.suite, spec.row) == (suite, row));
    place.unwrap_or(usize::MAX)
}

/// Writes `SUITE.json`, `SUITE.md` and `SUITE.rounds.json` into `out`, and prints which rows we
/// lose.
pub(crate) fn write_suite(
    out: &Path,
    suite: &str,
    results: &[RowResult],
    kept: Kept,
) -> Result<(), BenchError> {
    std::fs::create_dir_all(out).map_err(BenchError::io("make the result directory"))?;
    let mut rows: Vec<Row> = results.iter().flat_map(RowResult::rows).collect();
    let mut rounds: Vec<Rounds> = results
        .iter()
        .flat_map(|result| result.sides.iter().map(move |side| (result, side)))
        .map(|(result, side)| Rounds {
            row: result.spec.row.to_owned(),
            who: side.who.clone(),
            shards: result.shards,
            samples: side.samples().to_vec(),
            missing: side.outcome.as_ref().err().map(Missing::to_string),
        })
        .collect();
    let path = |extension: &str| out.join(format!("{suite}.{extension}"));
    let mut earlier_tables = String::new();
    if kept == Kept::OtherRows {
        let other = |row: &str, shards: usize| {
            let of_run = |result: &RowResult| (result.spec.row, result.shards) == (row, shards);
            !results.iter().any(of_run)
        };
        let earlier: Vec<Row> = read_rows(&path("json"))?;
        rows.extend(
            earlier
                .into_iter()
                .filter(|row| other(&row.row, row.shards)),
        );
        let earlier: Vec<Rounds> = read_rows(&path("rounds.json"))?;
        let earlier = earlier.into_iter();
        rounds.extend(earlier.filter(|rounds| other(&rounds.row, rounds.shards)));
        earlier_tables = read_text(&path("md"))?.unwrap_or_default();
    }
    rows.sort_by_key(|row| place(suite, &row.row));
    rounds.sort_by_key(|rounds| place(suite, &rounds.row));
    let json = |value: Result<String, serde_json::Error>| value.expect("rows are plain data");
    let tables: String = results.iter().map(RowResult::markdown).collect();
    let lost: Vec<String> = results
        .iter()
        .filter(|result| result.verdict().contains("LOST"))
        .map(|result| format!("{} ({})", result.spec.row, result.verdict()))
        .collect();
    let summary = match (
        results.iter().any(|result| result.ours().is_some()),
        lost.is_empty(),
    ) {
        (false, _) => format!("{suite}: ours is not in this run"),
        (true, true) => format!("{suite}: no row lost"),
        (true, false) => format!("{suite}: lost {}", lost.join(", ")),
    };
    println!("{summary}\n");
    let files = [
        ("json", json(serde_json::to_string_pretty(&rows))),
        ("rounds.json", json(serde_json::to_string(&rounds))),
        (
            "md",
            format!("{earlier_tables}## {suite}\n\n{tables}{summary}\n\n"),
        ),
    ];
    for (extension, content) in files {
        std::fs::write(path(extension), content).map_err(BenchError::io("write results"))?;
    }
    Ok(())
}

/// The text of a file, if there is one.
pub(crate) fn read_text(path: &Path) -> Result<Option<String>, BenchError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(BenchError::io("read results")(error)),
    }
}

/// The rows of a file that a run wrote; none where there is no file.
pub(crate) fn read_rows<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, BenchError> {
    let Some(text) = read_text(path)? else {
        return Ok(Vec::new());
    };
    serde_json::from_str(&text).map_err(|source| BenchError::Results {
        file: path.display().to_string(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::{result, side};
    use crate::write_report;

    #[test]
    fn a_row_that_is_run_again_replaces_itself_alone() {
        let out = std::env::temp_dir().join(format!("corelane-results-{}", std::process::id()));
        let run = |row: &str, value: f64, kept| {
            let results = [result(row, vec![side("rtrb-0.0", &[value])])];
            write_suite(&out, "lanes", &results, kept).unwrap();
        };
        let values = || {
            let rows: Vec<Row> = read_rows(&out.join("lanes.json")).unwrap();
            rows.into_iter()
                .map(|row| (row.row, row.value))
                .collect::<Vec<_>>()
        };
        run("round_trip", 1.0, Kept::OtherRows);
        run("one_way_batch", 2.0, Kept::OtherRows);
        run("round_trip", 3.0, Kept::OtherRows);
        let both = [
            ("one_way_batch".to_owned(), 2.0),
            ("round_trip".to_owned(), 3.0),
        ];
        assert_eq!(values(), both);
        write_report(&out).unwrap();
        let page = std::fs::read_to_string(out.join("index.html")).unwrap();
        assert!(page.contains("id=\"lanes-one_way_batch-2\""));
        run("one_way_single", 4.0, Kept::Nothing);
        assert_eq!(values(), [("one_way_single".to_owned(), 4.0)]);
        std::fs::write(out.join("lanes.json"), "no rows").unwrap();
        let error = write_report(&out).unwrap_err();
        assert!(
            error.to_string().ends_with("lanes.json holds no results"),
            "{error}"
        );
        std::fs::remove_dir_all(&out).unwrap();
    }
}
