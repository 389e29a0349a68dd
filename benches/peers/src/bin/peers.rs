//! The timed twin of the peers: no allocation is counted.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use corelane_bench_harness::Twin;

fn main() -> ExitCode {
    Twin::new(corelane_bench_peers::entries()).main()
}
