//! The rows: what each measures, how many operations a round does, and the JSON form of a result.

use serde::{Deserialize, Serialize};

use crate::primitives::rows::{self as primitives, PRIMITIVES};
use crate::rings::rows::{FLOOD_ROWS, RING_ROWS, RINGS};
use crate::{BenchError, Cores};

/// Which direction of a figure is the good one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Times and costs.
    Lower,
    /// Rates.
    Higher,
}

/// How a row is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The twin does the whole round and answers with a sample.
    Round,
    /// The twin serves; the neutral client loads it with requests of `bytes` over `connections`.
    Serve {
        /// Connections, each with one request in flight.
        connections: usize,
        /// Payload of a request and of its reply.
        bytes: usize,
    },
    /// The twin serves; the neutral client connects, echoes 64 bytes and closes, `connections` at a
    /// time.
    Churn {
        /// Connections open at a time.
        connections: usize,
    },
}

/// What a row measures; both twins take it from [`rows`].
#[derive(Debug, Clone, Copy)]
pub struct RowSpec {
    /// The suite it belongs to.
    pub suite: &'static str,
    /// Its name within the suite.
    pub row: &'static str,
    /// The unit of its value.
    pub unit: &'static str,
    /// Which direction is good.
    pub better: Better,
    /// How it is run.
    pub kind: Kind,
    /// Operations of a full round; a quick round does a tenth.
    pub ops: u64,
    /// Shards (or threads) of a round, or [`EVERY_CORE`]; a served row takes as many as the plan
    /// says.
    pub shards: usize,
    /// What one operation is, in a sentence.
    pub what: &'static str,
}

const LANES: &str = "lanes";
const RUNTIME: &str = "runtime";
const TCP: &str = "tcp";
const THREAD_AWARE: &str = "thread_aware";

/// In a row's `shards`: as many as there are cores that the process may use.
pub const EVERY_CORE: usize = usize::MAX;

pub(crate) const fn timed(
    suite: &'static str,
    row: &'static str,
    shards: usize,
    ops: u64,
    what: &'static str,
) -> RowSpec {
    RowSpec {
        suite,
        row,
        unit: "ns",
        better: Better::Lower,
        kind: Kind::Round,
        ops,
        shards,
        what,
    }
}

const fn served(row: &'static str, kind: Kind, ops: u64, what: &'static str) -> RowSpec {
    let better = Better::Lower;
    RowSpec {
        suite: TCP,
        row,
        unit: "ns cpu",
        better,
        kind,
        ops,
        shards: 1,
        what,
    }
}

/// Every row that exists, in the order in which a suite runs it.
pub fn rows() -> impl Iterator<Item = &'static RowSpec> {
    let suites = [ROWS, &FLOOD_ROWS, RING_ROWS];
    suites.into_iter().flatten().chain(primitives::rows())
}

const ROWS: &[RowSpec] = &[
    timed(
        LANES,
        "one_way_single",
        2,
        10_000_000,
        "one u64 pushed and popped between two cores",
    ),
    timed(
        LANES,
        "one_way_batch",
        2,
        20_000_000,
        "one u64 of chunks of up to 64 between two cores",
    ),
    timed(
        LANES,
        "round_trip",
        2,
        500_000,
        "a u64 there and back, both ends spinning, median",
    ),
    timed(
        RUNTIME,
        "spawn_join",
        1,
        500_000,
        "spawn a task and await its result on one core",
    ),
    timed(RUNTIME, "yield", 1, 1_000_000, "one yield of the only task"),
    timed(
        RUNTIME,
        "submit_spin",
        2,
        100_000,
        "a call to another core and its reply, both spinning, median",
    ),
    timed(
        RUNTIME,
        "submit_park",
        2,
        5_000,
        "a call to another core and its reply, both parking, median",
    ),
    timed(
        RUNTIME,
        "mesh_one_way",
        2,
        2_000_000,
        "one u64 between two cores over the runtime's way",
    ),
    timed(
        RUNTIME,
        "foreign_wake",
        1,
        5_000,
        "a plain thread wakes a task of a parked runtime, median",
    ),
    timed(
        RUNTIME,
        "timer_insert_cancel",
        1,
        500_000,
        "arm and drop a timer beside 100k armed ones",
    ),
    timed(
        RUNTIME,
        "timer_late_p99",
        1,
        200,
        "how late sleeps of 0.2 to 2 ms end, p99",
    ),
    RowSpec {
        suite: RUNTIME,
        row: "idle_cpu",
        unit: "% of a core",
        better: Better::Lower,
        kind: Kind::Round,
        ops: 500,
        shards: 2,
        what: "processor time of two idle shards, over a millisecond an operation",
    },
    timed(
        TCP,
        "echo_64b_c1_spin",
        2,
        20_000,
        "a 64 B echo, both ends in the runtime's spinning form, median",
    ),
    timed(
        TCP,
        "echo_64b_c1_park",
        2,
        5_000,
        "a 64 B echo, both ends in the runtime's parking form, median",
    ),
    served(
        "echo_64b_c64",
        Kind::Serve {
            connections: 64,
            bytes: 64,
        },
        200_000,
        "server processor time of a 64 B echo, 64 connections, neutral client",
    ),
    served(
        "echo_64b_c1000",
        Kind::Serve {
            connections: 1_000,
            bytes: 64,
        },
        200_000,
        "server processor time of a 64 B echo, 1,000 connections, neutral client",
    ),
    served(
        "echo_16k_c64",
        Kind::Serve {
            connections: 64,
            bytes: 16_384,
        },
        50_000,
        "server processor time of a 16 KiB echo, 64 connections, neutral client",
    ),
    served(
        "accept_churn",
        Kind::Churn { connections: 16 },
        10_000,
        "server processor time of accept, 64 B echo and close",
    ),
    timed(
        THREAD_AWARE,
        "same",
        1,
        10_000_000,
        "a handle relocated to where it is",
    ),
    timed(
        THREAD_AWARE,
        "hit",
        1,
        5_000_000,
        "the only handle relocated between two places that have its values",
    ),
    timed(
        THREAD_AWARE,
        "tree_hit",
        1,
        200_000,
        "a tree of five levels, 31 handles, relocated likewise",
    ),
    timed(
        THREAD_AWARE,
        "miss",
        1,
        50_000,
        "a new handle relocated for the first time, which makes a value",
    ),
    timed(
        THREAD_AWARE,
        "all_cores",
        EVERY_CORE,
        10_000_000,
        "a hit on every core at once, each between two places of its own, time of a core",
    ),
    timed(
        THREAD_AWARE,
        "oversubscribed",
        EVERY_CORE,
        5_000_000,
        "the same with two threads a core, time of a core",
    ),
    timed(
        THREAD_AWARE,
        "clone_drop_1",
        1,
        5_000_000,
        "a handle cloned and the clone dropped",
    ),
    timed(
        THREAD_AWARE,
        "clone_drop_2",
        2,
        10_000_000,
        "the same on two cores at once, each at its own place",
    ),
    timed(
        THREAD_AWARE,
        "into_one",
        2,
        20_000_000,
        "two threads relocate a handle each to one place, again and again",
    ),
    timed(
        THREAD_AWARE,
        "visit_one",
        2,
        1_000_000,
        "two threads relocate a handle each to one place and back to their own, where others stay",
    ),
    timed(
        THREAD_AWARE,
        "visit_one_alone",
        2,
        1_000_000,
        "the same with no other handles",
    ),
    timed(
        THREAD_AWARE,
        "first_touch",
        EVERY_CORE,
        1_000,
        "all cores relocate to an empty place: median wait for who makes the value in 5 us",
    ),
    RowSpec {
        suite: THREAD_AWARE,
        row: "handle_bytes",
        unit: "B",
        better: Better::Lower,
        kind: Kind::Round,
        ops: 10,
        shards: 1,
        what: "size of a handle of a sized value",
    },
];

/// Finds a row by suite and name.
pub fn find_row(suite: &str, row: &str) -> Option<&'static RowSpec> {
    rows().find(|spec| spec.suite == suite && spec.row == row)
}

impl RowSpec {
    /// The row's cores. Where nobody spins without a bound, one core will do for both.
    ///
    /// # Errors
    ///
    /// [`BenchError::Cores`] when the process may use too few.
    pub fn cores(&self) -> Result<Cores, BenchError> {
        match self.suite {
            RINGS | PRIMITIVES => Cores::allowed_or_one(),
            _ => Cores::allowed(),
        }
    }

    /// Operations of one round.
    pub fn round_ops(&self, quick: bool) -> u64 {
        if quick { self.ops / 10 } else { self.ops }
    }
}

/// One result as `DIR/SUITE.json` holds it; a figure that a row cannot have is null.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Row {
    /// The suite.
    pub suite: String,
    /// The row within the suite.
    pub row: String,
    /// `corelane`, `NAME-VERSION` of a peer, `bare-…` or `control-…`.
    pub who: String,
    /// Shards, or threads of a peer's server.
    pub shards: usize,
    /// The median round.
    pub value: f64,
    /// The unit of `value`, `p50` and `p99`, except where the note says otherwise.
    pub unit: String,
    /// Which direction is good.
    pub better: Better,
    /// Median latency of single operations, or of the rounds where operations are not timed singly.
    pub p50: Option<f64>,
    /// 99th percentile of the same.
    pub p99: Option<f64>,
    /// Processor time an operation.
    pub cpu_ns_per_op: Option<f64>,
    /// Bytes allocated an operation.
    pub alloc_b_per_op: Option<f64>,
    /// Peak resident memory of the process.
    pub peak_rss_kib: Option<u64>,
    /// Counts and checksums were right in every round.
    pub checked: bool,
    /// Rounds, spread, threads, context switches and what else the row knows.
    pub note: String,
}
