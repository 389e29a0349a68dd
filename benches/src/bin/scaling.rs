//! The timed twin of ours: no allocation is counted.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use corelane_bench_harness::Twin;

fn main() -> ExitCode {
    Twin::new(corelane_benches::entries()).main()
}
