//! `gate ROW N`: N operations of a row, checked; what `gates` runs under callgrind.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use corelane_benches::gates::{GateError, row_and_count};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), GateError> {
    let (row, ops) = row_and_count(std::env::args().skip(1))?;
    row.run(ops, || ())?;
    Ok(())
}
