//! What both benchmark twins share: rows, clocks, the neutral client, the interleaved run and its
//! tables.
//!
//! It depends on no runtime, so that our binary (`scaling`) and the rivals' (`peers`) are measured
//! by the same lines of code. A *twin* is one of those binaries; a *round* is one measured
//! repetition of a row.

#![forbid(unsafe_code)]

mod children;
mod client;
mod echo_pair;
mod error;
mod laps;
mod listen;
mod measure;
mod orchestrate;
mod pairs;
mod pin;
mod primitives;
mod relocation;
mod report;
mod results;
mod rings;
mod row;
mod stats;
mod table;
mod tasks;
mod twin;

pub use client::{Client, Driven, churn};
pub use echo_pair::{EchoLog, echo_pair};
pub use error::BenchError;
pub use laps::Laps;
pub use listen::{bind, connect};
pub use measure::{Meter, Sample, Spent, clock_ns, count_allocations_by, process_cpu_ns};
pub use orchestrate::{Plan, run};
pub use pairs::{Gate, LAP, Tally, on_two_cores, one_way, one_way_sample, round_trip};
pub use pin::{Cores, allowed_cores, pin};
pub use primitives::{
    Crowd, Ear, Fairness, Hosted, ITEMS, Latest, LatestArc, Scenarios, Source, actor_entries,
    fairness_entries, fold_sum, form_a_lossless, form_a_mpsc, form_a_propagation, form_a_topic,
    get_arc_entries, get_entries, live_entries, live_mpsc_entries, lossless_entries,
    overflow_new_entries, overflow_oldest_entries, queue_entries, set_entries, story_overflow_new,
    story_overflow_oldest, topic_entries, watch_entries,
};
pub use relocation::{Relocating, Value, relocating_entries, shared_entries};
pub use report::write_report;
pub use rings::{
    AwaitQueue, Host, Pull, Push, Queue, SLOTS, Shape, Sharded, Walk, await_entries, burst_entries,
    consumer_entries, one_queue_entries, other_process_floods, ring_entries, sharded_entries,
    spsc_entries,
};
pub use row::{Better, EVERY_CORE, Kind, Row, RowSpec, find_row, rows};
pub use stats::{Summary, median, quantile};
pub use tasks::{ForeignSlot, Lateness, foreign_wakes, idle_share};
pub use twin::{Counters, Entry, Params, Round, Serving, Twin, Work};
