//! Runs suites over our binary and the rivals' twin, interleaved; `benches/run` builds them and
//! calls this.

#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use corelane_bench_harness::{Plan, run};

#[derive(Parser)]
#[command(
    name = "benches/run",
    about = "Runs benchmark suites, our side and the peers' interleaved"
)]
struct Cli {
    #[command(flatten)]
    plan: Plan,
    /// A benchmark binary; give each side's.
    #[arg(long = "twin", required = true)]
    twins: Vec<PathBuf>,
}

fn main() -> ExitCode {
    let Cli { plan, twins } = Cli::parse();
    match run(&plan, &twins) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
