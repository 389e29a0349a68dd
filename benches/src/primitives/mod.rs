//! Signals, subscriptions, channels and topics, in Datum's own shape and with live feeds.
//!
//! `corelane` is the form that we would take in the row; the others stand beside it: `-shared`, a
//! signal of any type, `-plain`, one that keeps its number in place, `-replica`, one of which each
//! reader has a replica, `-next`, one value a call instead of a batch, and `-two-shards`, a
//! consumer on a core of its own. Tasks run on shards, and feeds stay on theirs.

mod actor;
mod changes;
mod messages;
mod queue;
mod state;
mod stories;

use corelane_bench_harness::{
    Entry, Hosted, actor_entries, form_a_lossless, form_a_mpsc, form_a_propagation, form_a_topic,
    get_arc_entries, get_entries, live_entries, lossless_entries, overflow_new_entries,
    overflow_oldest_entries, queue_entries, set_entries, topic_entries, watch_entries,
};
use corelane_primitives::{PlainSignal, Signal};

use crate::WHO;
use crate::rings::Shard;
use changes::{Batches, Singly};
use messages::{All, AllSingly, Newest, Oldest};
use queue::Queue;
use state::{Plain, Replicas, Shared};

/// Values that one call takes.
const BATCH: usize = 256;

pub(crate) fn entries() -> Vec<Entry> {
    let shared = format!("{WHO}-shared");
    let next = format!("{WHO}-next");
    [
        get_entries::<Plain>(WHO),
        get_entries::<Shared>(&shared),
        get_arc_entries::<Replicas<PlainSignal<u64>>>(WHO),
        get_arc_entries::<Plain>(&format!("{WHO}-plain")),
        get_arc_entries::<Shared>(&shared),
        get_arc_entries::<Replicas<Signal<u64>>>(&format!("{shared}-replica")),
        live_entries::<Hosted<Plain, Shard>>(WHO),
        live_entries::<Hosted<Shared, Shard>>(&shared),
        set_entries::<Hosted<Plain, Shard>>(WHO),
        set_entries::<Hosted<Shared, Shard>>(&shared),
        form_a_propagation(WHO, stories::propagation),
        watch_entries::<Hosted<Plain, Shard>>(WHO),
        watch_entries::<Hosted<Shared, Shard>>(&shared),
        form_a_lossless(WHO, stories::lossless),
        lossless_entries::<Hosted<Batches, Shard>>(WHO),
        lossless_entries::<Hosted<Singly, Shard>>(&next),
        form_a_mpsc(WHO, stories::mpsc),
        form_a_mpsc(&format!("{WHO}-two-shards"), stories::mpsc_on_two_shards),
        queue_entries::<Queue, Shard>(WHO),
        form_a_topic(WHO, stories::topic),
        topic_entries::<Hosted<All, Shard>>(WHO),
        topic_entries::<Hosted<AllSingly, Shard>>(&next),
        overflow_oldest_entries::<Oldest, Shard>(WHO),
        overflow_new_entries::<Newest, Shard>(WHO),
        actor_entries(WHO, actor::round),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use corelane_bench_harness::{Cores, Params, Work};

    use super::*;

    #[test]
    fn every_row_gives_a_checked_figure() {
        let cores = Cores::allowed_or_one().unwrap();
        let many = |entry: &Entry| entry.row.contains("_1024_") && entry.row != "topic_1024_b";
        for entry in entries().into_iter().filter(|entry| !many(entry)) {
            let ops = match entry.row {
                "observe_p99" | "idle_1000" => 20,
                row if row.starts_with("signal") || row == "actor_round" => 5_000,
                "fairness_1024" => 1_024 * 64,
                _ => 1,
            };
            let params = Params {
                ops,
                shards: 2,
                cores,
            };
            let Work::Round(round) = &entry.work else {
                panic!("{} serves a client", entry.row);
            };
            let sample = round(&params).unwrap_or_else(|error| {
                panic!("{} {}: {error}", entry.row, entry.who);
            });
            assert!(
                sample.value > 0.0 || entry.row == "idle_1000",
                "{}",
                entry.row
            );
        }
    }
}
