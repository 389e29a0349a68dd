//! The rows of the suite, in families that differ in one number.

use crate::row::{Better, Kind, RowSpec, timed};

pub(crate) const PRIMITIVES: &str = "primitives";

/// Rows of one kind, each for another number of readers, feeds or producers.
pub(super) struct Family {
    rows: &'static [RowSpec],
    counts: &'static [usize],
}

impl Family {
    /// Each row's name with its number.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let names = self.rows.iter().map(|spec| spec.row);
        names.zip(self.counts.iter().copied())
    }
}

/// Every row of the suite.
pub(crate) fn rows() -> impl Iterator<Item = &'static RowSpec> {
    FAMILIES.iter().flat_map(|family| family.rows)
}

macro_rules! family {
    (
        $before:literal $after:literal on $shards:literal, $what:literal:
        $($count:literal x $ops:expr),*
    ) => {
        Family {
            rows: &[$(timed(
                PRIMITIVES, concat!($before, $count, $after), $shards, $ops, $what
            )),*],
            counts: &[$($count),*],
        }
    };
}

/// Reads of one pass: what Datum's own row does.
pub(super) const PASS_READS: u64 = 1 << 20;
const READS: u64 = 10 * PASS_READS;

pub(super) const GET_A: Family = family!(
    "signal_get_r" "_a" on 2,
    "one read of a number that nobody changes, by N threads, as a copy":
    1 x READS, 16 x READS, 64 x READS
);
pub(super) const GET_ARC: Family = family!(
    "signal_get_arc_r" "" on 2,
    "one read of a number that nobody changes, by N threads, as a counted reference":
    1 x READS, 16 x READS, 64 x READS
);
pub(super) const GET_B: Family = family!(
    "signal_get_r" "_b" on 2,
    "one checked read by N threads, one of which sets each 1,024 reads, and a live feed follows":
    1 x READS, 16 x READS, 64 x READS
);
pub(super) const SET_A: Family = family!(
    "signal_set_" "_a" on 2,
    "one set, with no feed or one whose reader is busy with the first value":
    0 x 500_000, 1 x 500_000
);
pub(super) const SET_0_B: Family = family!(
    "signal_set_" "_b" on 1,
    "one set that is read back at once, with no feed":
    0 x 500_000
);
pub(super) const SET_1_B: Family = family!(
    "signal_set_" "_b" on 2,
    "one set, with a live feed on another core that ends with the last value":
    1 x 500_000
);
pub(super) const PROPAGATION_A: Family = family!(
    "propagation_" "_a" on 2,
    "1,024 sets while N tasks wait for something else; then each reads the last value; all of it":
    64 x 100, 1024 x 50
);
pub(super) const PROPAGATION_B: Family = family!(
    "propagation_" "_b" on 2,
    "1,024 sets on one core until N live feeds on another have seen the last one":
    64 x 50, 1024 x 20
);
pub(super) const LOSSLESS_A: Family = family!(
    "lossless_" "_a" on 2,
    "1,024 changes that find room, then N tasks that take them all; all of it":
    64 x 50, 256 x 20
);
pub(super) const LOSSLESS_B: Family = family!(
    "lossless_" "_b" on 2,
    "1,024 changes on one core until N live feeds on another have read each of them":
    64 x 50, 256 x 20
);
pub(super) const MPSC_A: Family = family!(
    "mpsc_" "_a" on 2,
    "1,024 values from each of N tasks of one core to one consumer that counts; all of it":
    64 x 20, 1024 x 5
);
pub(super) const MPSC_B: Family = family!(
    "mpsc_" "_b" on 2,
    "1,024 values from each of N tasks of one core to a task of another that reads each":
    64 x 20, 1024 x 5
);
pub(super) const TOPIC_A: Family = family!(
    "topic_" "_a" on 1,
    "1,024 messages to N tasks of the same core; all of it":
    64 x 50, 256 x 20, 1024 x 5
);
pub(super) const TOPIC_B: Family = family!(
    "topic_" "_b" on 2,
    "1,024 messages of one core until N live feeds on another have read each of them":
    64 x 50, 256 x 20, 1024 x 5
);
pub(super) const OVERFLOW_OLDEST: Family = family!(
    "overflow_" "_oldest" on 1,
    "1,024 messages to N feeds with 16 places that nobody reads, then what is left; all of it":
    1 x 500, 64 x 200
);
pub(super) const OVERFLOW_NEW: Family = family!(
    "overflow_" "_new" on 1,
    "the same, where a full feed gets no new message instead of losing its oldest":
    1 x 500, 64 x 200
);
pub(super) const OBSERVE: Family = family!(
    "observe_p" "" on 2,
    "from before a set until a feed that slept on another core has it, 99th percentile":
    99 x 3_000
);
pub(super) const IDLE: Family = Family {
    rows: &[RowSpec {
        suite: PRIMITIVES,
        row: "idle_1000",
        unit: "% of a core",
        better: Better::Lower,
        kind: Kind::Round,
        ops: 300,
        shards: 1,
        what: "processor time of 1,000 feeds that wait, over a millisecond an operation",
    }],
    counts: &[1_000],
};
pub(super) const FAIRNESS: Family = Family {
    rows: &[RowSpec {
        suite: PRIMITIVES,
        row: "fairness_1024",
        unit: "times",
        better: Better::Lower,
        kind: Kind::Round,
        ops: 1_024 * 512,
        shards: 2,
        what: "values of the fastest of 1,024 producers for one of the slowest",
    }],
    counts: &[1_024],
};
pub(super) const ACTOR: Family = Family {
    rows: &[timed(
        PRIMITIVES,
        "actor_round",
        2,
        200_000,
        "one message that an actor, or a task with a mailbox, handles",
    )],
    counts: &[1],
};

const FAMILIES: &[Family] = &[
    GET_A,
    GET_ARC,
    GET_B,
    SET_A,
    SET_0_B,
    SET_1_B,
    PROPAGATION_A,
    PROPAGATION_B,
    LOSSLESS_A,
    LOSSLESS_B,
    MPSC_A,
    MPSC_B,
    TOPIC_A,
    TOPIC_B,
    OVERFLOW_OLDEST,
    OVERFLOW_NEW,
    OBSERVE,
    IDLE,
    FAIRNESS,
    ACTOR,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_named_by_their_number_and_once() {
        let mut names: Vec<_> = rows().map(|spec| spec.row).collect();
        assert!(names.contains(&"signal_get_r16_a") && names.contains(&"topic_1024_b"));
        assert!(names.contains(&"signal_get_arc_r64") && names.contains(&"observe_p99"));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for family in FAMILIES {
            assert_eq!(family.rows.len(), family.counts.len());
        }
    }
}
