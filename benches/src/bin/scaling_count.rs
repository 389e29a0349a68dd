//! The counting twin of ours: the same rows with an allocator that counts bytes.

#![forbid(unsafe_code)]

use std::alloc::System;
use std::process::ExitCode;

use corelane_bench_harness::{Twin, count_allocations_by};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> ExitCode {
    count_allocations_by(|| ALLOCATOR.stats().bytes_allocated as u64);
    Twin::new(corelane_benches::entries()).main()
}
