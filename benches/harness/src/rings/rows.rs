//! The rows of the suite: which floods and bursts there are.

use super::{SLOTS, Shape};
use crate::row::{Better, Kind, RowSpec, timed};

pub(crate) const RINGS: &str = "rings";

/// What produces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// Tasks of one executor a core.
    Tasks,
    /// Threads.
    Threads,
}

/// Where producers and consumer run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum On {
    /// The consumer on the first core, producers on all others.
    Apart,
    /// All on the first core.
    OneCore,
}

/// A flood: producers push as fast as there is room, one consumer takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flood {
    pub(super) row: &'static str,
    pub(super) producers: usize,
    pub(super) by: By,
    pub(super) on: On,
    /// Values pushed by one call.
    pub(super) batch: usize,
    pub(super) shards: usize,
    /// Whether the row is about shards; then its queue is one with shards, if only one.
    pub(super) named_shards: bool,
}

impl Flood {
    pub(super) fn shape(&self) -> Shape {
        Shape {
            slots: SLOTS,
            producers: self.producers,
            shards: self.shards,
        }
    }
}

/// A burst: one producer pushes `size` values, then waits until the last has been seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Burst {
    pub(super) row: &'static str,
    pub(super) size: usize,
    pub(super) on: On,
}

const fn plain(row: &'static str, producers: usize, by: By) -> Flood {
    Flood {
        row,
        producers,
        by,
        on: On::Apart,
        batch: 1,
        shards: 1,
        named_shards: false,
    }
}

const fn sharded(row: &'static str, producers: usize, shards: usize) -> Flood {
    let mut flood = plain(row, producers, By::Tasks);
    flood.shards = shards;
    flood.named_shards = true;
    flood
}

const fn batched(row: &'static str, producers: usize) -> Flood {
    let mut flood = plain(row, producers, By::Tasks);
    flood.batch = 64;
    flood
}

const fn on_one_core(row: &'static str, producers: usize) -> Flood {
    let mut flood = plain(row, producers, By::Tasks);
    flood.on = On::OneCore;
    flood
}

const fn burst(row: &'static str, size: usize, on: On) -> Burst {
    Burst { row, size, on }
}

macro_rules! floods {
    (
        tasks: $($task:literal)*;
        threads: $($thread:literal)*;
        batch: $($batch:literal)*;
        shards: $($shard:literal from $($from:literal)*),*;
    ) => {
        &[
            $(plain(concat!("flood_", $task), $task, By::Tasks),)*
            $(plain(concat!("flood_", $thread, "_threads"), $thread, By::Threads),)*
            $(batched(concat!("flood_", $batch, "_batch"), $batch),)*
            $($(sharded(concat!("flood_", $from, "_shards_", $shard), $from, $shard),)*)*
            on_one_core("one_core", 64),
        ]
    };
}

/// Every flood, in the order in which the suite runs them.
pub(super) const FLOODS: &[Flood] = floods! {
    tasks: 1 2 4 8 16 32 64 100 250 1000;
    threads: 1 2 3 4 8 16 32 64;
    batch: 100 1000;
    shards:
        4 from 1 2 4 8 16 32 64 100 250 1000,
        1 from 4 8 100 1000,
        16 from 4 8 100 1000,
        64 from 4 8 100 1000;
};

/// Every burst.
pub(super) const BURSTS: &[Burst] = &[
    burst("burst_1", 1, On::Apart),
    burst("burst_10", 10, On::Apart),
    burst("burst_100", 100, On::Apart),
    burst("burst_1_one_core", 1, On::OneCore),
    burst("burst_10_one_core", 10, On::OneCore),
    burst("burst_100_one_core", 100, On::OneCore),
];

const FLOOD_OPS: u64 = 1_000_000;
const FLOOD_COUNT: usize = FLOODS.len();

const fn flood_row(flood: &Flood) -> RowSpec {
    let what = match (flood.on, flood.by, flood.named_shards, flood.batch) {
        (On::OneCore, ..) => "one value from one of 64 tasks to a thread on the same core",
        (_, By::Threads, ..) => "one value from one of N threads to a thread on another core",
        (_, _, true, _) => "one value from one of N tasks, over shards, to a thread elsewhere",
        (_, _, _, 2..) => "one value of batches of 64 from one of N tasks to a thread elsewhere",
        _ => "one value from one of N tasks to a thread on another core",
    };
    timed(RINGS, flood.row, 2, FLOOD_OPS, what)
}

/// The floods as rows.
pub(crate) static FLOOD_ROWS: [RowSpec; FLOOD_COUNT] = {
    let mut rows = [flood_row(&FLOODS[0]); FLOOD_COUNT];
    let mut at = 0;
    while at < FLOOD_COUNT {
        rows[at] = flood_row(&FLOODS[at]);
        at += 1;
    }
    rows
};

const APART: &str = "one value of a burst that another core has seen, median";
const TOGETHER: &str = "one value of a burst from task to task of one core, median";

const fn share(row: &'static str, ops: u64, what: &'static str) -> RowSpec {
    RowSpec {
        suite: RINGS,
        row,
        unit: "% delivered",
        better: Better::Higher,
        kind: Kind::Round,
        ops,
        shards: 2,
        what,
    }
}

/// The other rows.
pub(crate) const RING_ROWS: &[RowSpec] = &[
    timed(RINGS, "burst_1", 2, 200_000, APART),
    timed(RINGS, "burst_10", 2, 1_000_000, APART),
    timed(RINGS, "burst_100", 2, 2_000_000, APART),
    timed(RINGS, "burst_1_one_core", 1, 200_000, TOGETHER),
    timed(RINGS, "burst_10_one_core", 1, 1_000_000, TOGETHER),
    timed(RINGS, "burst_100_one_core", 1, 2_000_000, TOGETHER),
    timed(
        RINGS,
        "fold_1000",
        1,
        1_920_000,
        "one value of a thousand folded out of a full queue, on one core",
    ),
    timed(
        RINGS,
        "pop_batch_1000",
        1,
        1_920_000,
        "one value of a thousand taken out into a vector, on one core",
    ),
    share(
        "overload_50x_refuse",
        1_000_000,
        "offers to a full queue, 50 for each that its consumer takes; what finds no room is lost",
    ),
    share(
        "overload_50x_wait",
        20_000,
        "the same consumer; an offer waits for room for up to 1 ms",
    ),
    RowSpec {
        suite: RINGS,
        row: "idle",
        unit: "% of a core",
        better: Better::Lower,
        kind: Kind::Round,
        ops: 150,
        shards: 1,
        what: "processor time of a consumer that waits, over a millisecond an operation",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_named_by_what_they_do() {
        let flood = |row| FLOODS.iter().find(|flood| flood.row == row).unwrap();
        let shards = flood("flood_250_shards_4");
        assert_eq!((shards.producers, shards.shards), (250, 4));
        assert_eq!(flood("flood_3_threads").by, By::Threads);
        assert_eq!(flood("flood_100_batch").batch, 64);
        for burst in BURSTS {
            assert!(
                RING_ROWS.iter().any(|row| row.row == burst.row),
                "{}",
                burst.row
            );
        }
    }

    #[test]
    fn no_two_rows_have_one_name() {
        let rows = || FLOOD_ROWS.iter().chain(RING_ROWS).map(|row| row.row);
        let mut names: Vec<_> = rows().collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), rows().count());
    }
}
