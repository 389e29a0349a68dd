//! Rings: one value at a time, and many.

use corelane_bench_harness::{BenchError, Tally};
use corelane_primitives::{Consumer64, Ring, Ring64, Shards64};

use super::Hold;

/// Slots of every ring.
const CAPACITY: usize = 256;
/// Values that are moved together.
const BATCH: u64 = 32;
/// Values that are pushed before they are taken.
const TURN: u64 = 64;

fn full<T>(done: u64, of: u64) -> impl FnOnce(T) -> BenchError {
    move |_| BenchError::Stalled { done, of }
}

/// An operation: a value is pushed and, after 64 of them, folded out.
pub(super) fn push_fold(ops: u64, hold: Hold) -> Result<(), BenchError> {
    let (ring, consumer) = Ring64::new(CAPACITY);
    in_turns(ops, hold, consumer, |number| {
        ring.push(number).map_err(full(number, ops))
    })
}

/// The same over four shards, of which one producer uses one.
pub(super) fn shards_push_fold(ops: u64, hold: Hold) -> Result<(), BenchError> {
    let (ring, consumer) = Shards64::new(4, CAPACITY);
    in_turns(ops, hold, consumer, |number| {
        ring.push(number).map_err(full(number, ops))
    })
}

fn in_turns(
    ops: u64,
    hold: Hold,
    mut consumer: Consumer64,
    push: impl Fn(u64) -> Result<(), BenchError>,
) -> Result<(), BenchError> {
    let mut tally = Tally::default();
    let mut next = 0;
    while next < ops {
        let end = ops.min(next + TURN);
        (next..end).try_for_each(&push)?;
        consumer.fold(TURN as usize, (), |(), number| tally.take(number));
        next = end;
    }
    hold();
    tally.check(ops)
}

/// An operation: a value is pushed and popped.
pub(super) fn push_pop(ops: u64, hold: Hold) -> Result<(), BenchError> {
    let (ring, mut consumer) = Ring64::new(CAPACITY);
    let mut tally = Tally::default();
    for number in 0..ops {
        ring.push(number).map_err(full(number, ops))?;
        if let Some(number) = consumer.pop() {
            tally.take(number);
        }
    }
    hold();
    tally.check(ops)
}

/// An operation: 32 values are pushed by one claim and folded out.
pub(super) fn batch(ops: u64, hold: Hold) -> Result<(), BenchError> {
    let (ring, mut consumer) = Ring64::new(CAPACITY);
    let mut tally = Tally::default();
    let mut values = Vec::with_capacity(BATCH as usize);
    for batch in 0..ops {
        let first = batch * BATCH;
        values.clear();
        values.extend(first..first + BATCH);
        ring.push_batch(&values).map_err(full(batch, ops))?;
        consumer.fold(BATCH as usize, (), |(), number| tally.take(number));
    }
    hold();
    tally.check(BATCH * ops)
}

/// An operation: a value is pushed into a ring of any values and popped.
pub(super) fn any_push_pop(ops: u64, hold: Hold) -> Result<(), BenchError> {
    let (ring, mut consumer) = Ring::new(CAPACITY);
    let mut tally = Tally::default();
    for number in 0..ops {
        ring.push(number).map_err(full(number, ops))?;
        if let Some(number) = consumer.pop() {
            tally.take(number);
        }
    }
    hold();
    tally.check(ops)
}
