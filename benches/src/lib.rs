//! Core-scaling benchmarks: our side of every row.
//!
//! `scaling` does the rows, `scaling-count` the same with an allocator that counts; `benches/run` runs them
//! interleaved with the rivals' twin in `benches/peers`.

#![forbid(unsafe_code)]

mod lanes;
mod mesh;
mod tasks;
mod tcp;

use corelane_bench_harness::{BenchError, Entry};

/// How our side is named in every row.
const WHO: &str = "corelane";

/// Every row of ours.
pub fn entries() -> Vec<Entry> {
    [
        lanes::entries(),
        tasks::entries(),
        mesh::entries(),
        tcp::entries(),
    ]
    .concat()
}

/// Wraps an error of ours with whose it is.
fn ours<E: std::fmt::Display>(error: E) -> BenchError {
    BenchError::runtime(WHO)(error)
}
