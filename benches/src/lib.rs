//! Core-scaling benchmarks: our side of every row.
//!
//! `scaling` does the rows, `scaling-count` the same with an allocator that counts; `benches/run`
//! runs them interleaved with the rivals' twin in `benches/peers`. [`gates`] counts instructions
//! instead of time, and gates changes.

#![forbid(unsafe_code)]

pub mod gates;
mod lanes;
mod mesh;
mod primitives;
mod rings;
mod tasks;
mod tcp;
mod thread_aware;

use corelane_bench_harness::{BenchError, Entry};

/// How our side is named in every row.
const WHO: &str = "corelane";

/// Every row of ours.
pub fn entries() -> Vec<Entry> {
    [
        lanes::entries(),
        tasks::entries(),
        mesh::entries(),
        primitives::entries(),
        rings::entries(),
        tcp::entries(),
        thread_aware::entries(),
    ]
    .concat()
}

/// Which driver the current shard runs on, for the row's note.
fn driver() -> String {
    let shard = corelane::shard();
    let name = shard.driver().map_or("unknown", |driver| driver.name());
    format!("driver {name}")
}

/// Wraps an error of ours with all its sources.
fn ours(error: impl std::error::Error) -> BenchError {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    BenchError::runtime(WHO)(text)
}
