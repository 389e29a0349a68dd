//! Bounded queues with one consumer: what the rows of suite `rings` run on.
//!
//! Producers and consumers without room or values look again, as every side's do. Channels also
//! wait in their own way, under a name that ends in `-await`. Tasks run on tokio's `LocalSet`, one
//! a core. `rtrb-…-each` is a ring for each producer, which the consumer goes round; a library's
//! name in a row about shards means that many of its queues.

mod array_queue;
mod channels;
mod disruptor;
mod host;
mod java;
mod rtrb;
pub(crate) mod waiting;

use corelane_bench_harness::{
    AwaitQueue, Entry, Queue, Sharded, await_entries, one_queue_entries, ring_entries,
    sharded_entries, spsc_entries,
};

use crate::version::named;
use host::TokioLocal;

/// A producer's end of some library.
pub(crate) struct Tx<S>(S);

/// A consumer's end of some library.
pub(crate) struct Rx<R>(R);

/// The ends of a queue whose producers are clones.
fn clones<S: Clone, R>((sender, receiver): (S, R), producers: usize) -> (Vec<Tx<S>>, Rx<R>) {
    let senders = (0..producers).map(|_| Tx(sender.clone()));
    (senders.collect(), Rx(receiver))
}

pub(crate) fn entries() -> Vec<Entry> {
    let (disruptor, rtrb) = (named("disruptor"), named("rtrb"));
    let each = format!("{rtrb}-each");
    [
        one_queue_entries::<disruptor::Multi, TokioLocal>(&disruptor),
        spsc_entries::<disruptor::Single, TokioLocal>(&disruptor),
        java::entries(),
        polled::<array_queue::Crossbeam>("crossbeam-queue"),
        sharded::<array_queue::Crossbeam>("crossbeam-queue"),
        polled::<channels::Crossbeam>("crossbeam-channel"),
        sharded::<channels::Crossbeam>("crossbeam-channel"),
        polled::<channels::Kanal>("kanal"),
        sharded::<channels::Kanal>("kanal"),
        awaited::<waiting::Kanal>("kanal"),
        polled::<channels::Flume>("flume"),
        awaited::<waiting::Flume>("flume"),
        polled::<channels::Thingbuf>("thingbuf"),
        awaited::<waiting::Thingbuf>("thingbuf"),
        polled::<channels::AsyncChannel>("async-channel"),
        awaited::<waiting::AsyncChannel>("async-channel"),
        polled::<channels::Tokio>("tokio"),
        awaited::<waiting::Tokio>("tokio"),
        one_queue_entries::<rtrb::Each, TokioLocal>(&each),
        sharded_entries::<rtrb::Each, TokioLocal>(&each),
        spsc_entries::<rtrb::Each, TokioLocal>(&rtrb),
    ]
    .concat()
}

fn polled<Q: Queue>(library: &str) -> Vec<Entry> {
    ring_entries::<Q, TokioLocal>(&named(library))
}

fn sharded<Q: Queue>(library: &str) -> Vec<Entry> {
    sharded_entries::<Sharded<Q>, TokioLocal>(&named(library))
}

fn awaited<Q: AwaitQueue>(library: &str) -> Vec<Entry> {
    await_entries::<Q, TokioLocal>(&format!("{}-await", named(library)))
}

#[cfg(test)]
mod tests {
    use corelane_bench_harness::{BenchError, Cores, Params, Work};

    use super::*;

    #[test]
    fn every_peer_gives_checked_figures() {
        let params = Params {
            ops: 1_600,
            shards: 2,
            cores: Cores::allowed_or_one().unwrap(),
        };
        let rows = [
            "flood_3_threads",
            "flood_2_shards_4",
            "flood_100_batch",
            "one_core",
            "burst_10",
            "pop_batch_1000",
        ];
        let mut given = 0;
        for entry in entries().iter().filter(|entry| rows.contains(&entry.row)) {
            let Work::Round(round) = &entry.work else {
                panic!("{} serves a client", entry.row);
            };
            match round(&params) {
                Ok(sample) => assert!(sample.value > 0.0, "{} {}", entry.row, entry.who),
                Err(BenchError::Absent(_)) => assert!(entry.who.starts_with("lmax")),
                Err(error) => panic!("{} {}: {error}", entry.row, entry.who),
            }
            given += 1;
        }
        assert!(given > 40, "{given} sides");
    }
}
