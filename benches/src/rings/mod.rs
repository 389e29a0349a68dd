//! Bounded queues with one consumer: rings of integers, over shards too, and lanes.
//!
//! `corelane` is the form that we would take in the row; the others stand beside it.

mod host;
mod lanes;
mod ring;

use corelane_bench_harness::{
    Entry, await_entries, burst_entries, consumer_entries, one_queue_entries, ring_entries,
};

use crate::WHO;
use host::Shard;
use lanes::LaneEach;
use ring::AnyRing;

pub(crate) fn entries() -> Vec<Entry> {
    [
        burst_entries::<LaneEach, Shard>(WHO),
        one_queue_entries::<LaneEach, Shard>("corelane-lane-each"),
        consumer_entries::<LaneEach>("corelane-lane"),
        ring_entries::<AnyRing, Shard>("corelane-Ring"),
        await_entries::<AnyRing, Shard>("corelane-Ring-await"),
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
