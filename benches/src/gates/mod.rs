//! Rows that are counted and not timed: what one operation executes, locks and allocates.
//!
//! Times of one machine say little about a change; the instructions of an operation say the same
//! everywhere. `gate ROW N` does N operations, `gate-count` the same with an allocator that counts.
//! `gates` runs `gate` under callgrind for two counts of each row: their difference is what the
//! operations cost without start and end. It holds the result to the table in `benches/gates.toml`.
//!
//! Every row runs on one thread: with more, what an operation executes depends on who waits.

mod callgrind;
mod control;
mod cost;
mod error;
mod lanes;
mod limits;
mod listing;
mod measure;
mod primitives;
mod relocations;
mod report;
mod rings;
mod rows;
mod shard;
mod streams;
mod tasks;
mod timers;

pub use cost::Cost;
pub use error::GateError;
pub use limits::{Breach, Limits, Table};
pub use measure::{Gauge, Measured};
pub use report::Report;
pub use rows::{GateRow, Hold, ROWS, find_gate_row, row_and_count};
