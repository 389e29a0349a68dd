//! Signals, subscriptions, topics and channels with everything on one thread.

use corelane_bench_harness::{BenchError, Tally};
use corelane_primitives::{
    Overflow, PlainSignal, Signal, Subscription, Topic, TopicOverflow, channel,
};
use futures_util::FutureExt;

use super::Hold;
use crate::ours;

/// Places of every feed and channel.
const CAPACITY: usize = 256;
/// Messages that are published before they are drained.
const TURN: u64 = 64;

/// An operation is `read`, which gives the number that it is called with.
fn reads(ops: u64, hold: Hold, mut read: impl FnMut() -> u64) -> Result<(), BenchError> {
    let mut sum = 0_u64;
    for _ in 0..ops {
        sum = sum.wrapping_add(read());
    }
    hold();
    BenchError::check("sum of what was read", 7 * ops, sum)
}

/// An operation: the value of a plain signal is copied.
pub(super) fn plain_get_cloned(ops: u64, hold: Hold) -> Result<(), BenchError> {
    let signal = Signal::plain(7_u64);
    reads(ops, hold, || std::hint::black_box(&signal).get_cloned())
}

/// An operation: a plain signal of 64 bytes is read.
pub(super) fn plain_read(ops: u64, hold: Hold) -> Result<(), BenchError> {
    let signal = Signal::plain([7_u64; 8]);
    reads(ops, hold, || {
        std::hint::black_box(&signal).read(|value| value[7])
    })
}

/// An operation: a counted reference to the value of a shared signal is taken.
pub(super) fn shared_get(ops: u64, hold: Hold) -> Result<(), BenchError> {
    let signal = Signal::new(7_u64);
    reads(ops, hold, || *std::hint::black_box(&signal).get())
}

/// An operation: a counted reference is taken from a plain signal's replica.
pub(super) fn plain_replica_get(ops: u64, hold: Hold) -> Result<(), BenchError> {
    let mut replica = Signal::plain(7_u64).replica();
    reads(ops, hold, || *std::hint::black_box(&mut replica).get())
}

/// An operation: a counted reference is taken from a shared signal's replica.
pub(super) fn shared_replica_get(ops: u64, hold: Hold) -> Result<(), BenchError> {
    let mut replica = Signal::new(7_u64).replica();
    reads(ops, hold, || *std::hint::black_box(&mut replica).get())
}

/// An operation: a shared signal's replica lends the value.
pub(super) fn shared_replica_look(ops: u64, hold: Hold) -> Result<(), BenchError> {
    let mut replica = Signal::new(7_u64).replica();
    reads(ops, hold, || **std::hint::black_box(&mut replica).look())
}

/// An operation: a shared signal is read.
pub(super) fn shared_read(ops: u64, hold: Hold) -> Result<(), BenchError> {
    let signal = Signal::new(7_u64);
    reads(ops, hold, || {
        std::hint::black_box(&signal).read(|value| *value)
    })
}

/// An operation: a plain signal without feeds is set.
pub(super) fn plain_set(ops: u64, hold: Hold) -> Result<(), BenchError> {
    let signal: PlainSignal<u64> = Signal::plain(0);
    for number in 1..=ops {
        signal.set(number).map_err(ours)?;
    }
    hold();
    BenchError::check("last value", ops, signal.get_cloned())
}

/// An operation: a shared signal without feeds is set.
pub(super) fn shared_set(ops: u64, hold: Hold) -> Result<(), BenchError> {
    let signal = Signal::new(0);
    for number in 1..=ops {
        signal.set(number).map_err(ours)?;
    }
    hold();
    BenchError::check("last value", ops, signal.get_cloned())
}

/// An operation: a message is published and, after 64 of them, drained by one feed.
pub(super) fn topic_publish_drain(ops: u64, hold: Hold) -> Result<(), BenchError> {
    let topic = Topic::new(CAPACITY, TopicOverflow::Backpressure);
    let mut feed = topic.subscribe();
    let mut values = Vec::with_capacity(TURN as usize);
    let mut tally = Tally::default();
    let mut next = 0;
    while next < ops {
        let end = ops.min(next + TURN);
        for number in next..end {
            topic.try_publish(number).map_err(ours)?;
        }
        let drained = feed.next_batch(&mut values, TURN as usize).now_or_never();
        BenchError::check("drains", 1, u64::from(drained.is_some()))?;
        values.drain(..).for_each(|number| tally.take(number));
        next = end;
    }
    hold();
    tally.check(ops)
}

/// An operation: a value is sent and received, both awaited.
pub(super) fn channel_send_recv(ops: u64, hold: Hold) -> Result<(), BenchError> {
    let (sender, mut receiver) = channel(CAPACITY);
    let mut tally = Tally::default();
    for number in 0..ops {
        let sent = sender.send(number).now_or_never();
        BenchError::check("sends", 1, u64::from(sent == Some(Ok(()))))?;
        if let Some(Some(number)) = receiver.recv().now_or_never() {
            tally.take(number);
        }
    }
    hold();
    tally.check(ops)
}

/// An operation: a value is sent and, after 64 of them, folded out.
pub(super) fn channel_send_fold(ops: u64, hold: Hold) -> Result<(), BenchError> {
    let (sender, mut receiver) = channel(CAPACITY);
    let mut tally = Tally::default();
    let mut next = 0;
    while next < ops {
        let end = ops.min(next + TURN);
        for number in next..end {
            sender.try_send(number).map_err(ours)?;
        }
        receiver.fold(TURN as usize, (), |(), number| tally.take(number));
        next = end;
    }
    hold();
    tally.check(ops)
}

/// An operation: a subscription is set and its feed yields the change.
pub(super) fn subscription_set_next(ops: u64, hold: Hold) -> Result<(), BenchError> {
    let subscription = Subscription::new(0, CAPACITY, Overflow::Backpressure);
    let mut feed = subscription.changes();
    let mut tally = Tally::default();
    for number in 0..=ops {
        if let Some(Some(Ok(number))) = feed.next().now_or_never() {
            tally.take(number);
        }
        if number < ops {
            subscription.try_set(number + 1).map_err(ours)?;
        }
    }
    hold();
    tally.check(ops + 1)
}
