//! Bounded queues with one consumer: rings of integers, over shards too, and lanes.
//!
//! `corelane` is the form that we would take in the row; the others stand beside it.

mod host;
mod lanes;
mod ring;
mod ring64;

use corelane_bench_harness::{
    Entry, await_entries, burst_entries, consumer_entries, one_queue_entries, ring_entries,
    sharded_entries,
};

use crate::WHO;
pub(crate) use host::Shard;
use lanes::LaneEach;
use ring::AnyRing;
use ring64::{One, Several};

pub(crate) fn entries() -> Vec<Entry> {
    [
        one_queue_entries::<One, Shard>(WHO),
        sharded_entries::<Several, Shard>(WHO),
        burst_entries::<LaneEach, Shard>(WHO),
        consumer_entries::<One>(WHO),
        await_entries::<One, Shard>("corelane-await"),
        burst_entries::<One, Shard>("corelane-Ring64"),
        ring_entries::<AnyRing, Shard>("corelane-Ring"),
        await_entries::<AnyRing, Shard>("corelane-Ring-await"),
        one_queue_entries::<LaneEach, Shard>("corelane-lane-each"),
        consumer_entries::<LaneEach>("corelane-lane"),
    ]
    .concat()
}

/// A producer's end.
pub(crate) struct Tx<S>(S);

/// The consumer's end.
pub(crate) struct Rx<R>(R);

/// The ends of a queue whose producers are clones.
fn clones<S: Clone, R>((sender, receiver): (S, R), producers: usize) -> (Vec<Tx<S>>, Rx<R>) {
    let senders = (0..producers).map(|_| Tx(sender.clone()));
    (senders.collect(), Rx(receiver))
}
