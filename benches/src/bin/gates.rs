//! Counts rows and holds them to `benches/gates.toml`.
//!
//! Status 0: every row is within its limits. 1: one is not. 2: one could not be counted.

#![forbid(unsafe_code)]

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use corelane_benches::gates::{GateError, GateRow, Gauge, ROWS, Report, Table, find_gate_row};

/// Counts what an operation executes, locks and allocates, and holds it to benches/gates.toml.
#[derive(Debug, Parser)]
struct Options {
    /// Rows to count; all by default.
    rows: Vec<String>,
    /// Shows the functions in which each row spends its instructions.
    #[arg(long)]
    functions: bool,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprint!("gates: {error}");
            let mut source = std::error::Error::source(&error);
            while let Some(cause) = source {
                eprint!(": {cause}");
                source = cause.source();
            }
            eprintln!();
            ExitCode::from(2)
        }
    }
}

/// Whether every row is within its limits.
fn run(options: &Options) -> Result<bool, GateError> {
    let rows: Vec<&GateRow> = if options.rows.is_empty() {
        ROWS.iter().collect()
    } else {
        let found = options.rows.iter().map(|name| find_gate_row(name));
        found.collect::<Result<_, _>>()?
    };
    let table = Table::checked_in()?;
    let mut gauge = Gauge::new(&directory()?);
    let mut report = Report::default();
    if options.functions {
        report = report.with_functions();
    }
    println!("{}", Report::heading());
    for row in &rows {
        let measured = gauge.measure(row)?;
        let limits = table.limits(row.name)?;
        println!("{}", report.row(row, &measured, limits));
    }
    println!("{}", report.summary(rows.len()));
    Ok(report.passed())
}

/// Where this program stands, beside the two that do the rows.
fn directory() -> Result<PathBuf, GateError> {
    let this = std::env::current_exe();
    let this = this.and_then(|this| {
        let parent = this.parent().map(Path::to_owned);
        parent.ok_or_else(|| io::ErrorKind::NotFound.into())
    });
    this.map_err(|source| GateError::File {
        path: "gates".into(),
        source,
    })
}
