//! `gate-count ROW N`: the same under an allocator that counts. Prints allocations, the bytes they
//! gave, and the bytes that were live when everything was done and nothing dropped.

#![forbid(unsafe_code)]

use std::alloc::System;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use corelane_benches::gates::{GateError, row_and_count};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

static HELD: AtomicUsize = AtomicUsize::new(0);

fn hold() {
    let stats = ALLOCATOR.stats();
    let live = stats
        .bytes_allocated
        .saturating_sub(stats.bytes_deallocated);
    HELD.store(live, Ordering::Relaxed);
}

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
    row.run(ops, hold)?;
    let stats = ALLOCATOR.stats();
    let allocations = stats.allocations + stats.reallocations;
    let held = HELD.load(Ordering::Relaxed);
    println!("{allocations} {} {held}", stats.bytes_allocated);
    Ok(())
}
