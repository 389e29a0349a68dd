//! The report of all suites in a result directory: one self-contained page, `DIR/index.html`.
//!
//! It is made of the files `DIR/SUITE.json` alone, with plots drawn here, so it can be made again
//! and needs nothing from elsewhere.

mod chart;
mod figure;
mod page;
mod series;
mod svg;

use std::path::Path;

use crate::results::read_rows;
use crate::{BenchError, Row};

/// Writes `out/index.html` about every suite that has results in `out`.
///
/// # Errors
///
/// [`BenchError::Io`] when the directory or a file of it cannot be read or written, and
/// [`BenchError::Results`] when a file is not what a run writes.
pub fn write_report(out: &Path) -> Result<(), BenchError> {
    let suites = suites(out)?;
    let page = page::page(&suites, &page::Machine::read());
    std::fs::write(out.join("index.html"), page).map_err(BenchError::io("write the report"))
}

/// The rows of each suite, in the order in which suites run.
fn suites(out: &Path) -> Result<Vec<(String, Vec<Row>)>, BenchError> {
    let mut names: Vec<&str> = crate::rows().map(|spec| spec.suite).collect();
    names.dedup();
    let mut suites = Vec::new();
    for name in names {
        let rows = read_rows(&out.join(format!("{name}.json")))?;
        if !rows.is_empty() {
            suites.push((name.to_owned(), rows));
        }
    }
    Ok(suites)
}
