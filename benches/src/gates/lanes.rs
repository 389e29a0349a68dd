//! Lanes: bare, and as the ends that a shard holds.

use corelane::task::yield_now;
use corelane::{Inlet, Outlet};
use corelane_bench_harness::{BenchError, Tally};
use corelane_primitives::lane;

use super::Hold;
use super::shard::on_one_shard;

/// Slots of every lane.
const CAPACITY: usize = 64;
/// Values of a chunk, and operations between two yields: the lane's ends are told once a turn.
const BATCH: u64 = 32;

fn full<T>(done: u64, of: u64) -> impl FnOnce(T) -> BenchError {
    move |_| BenchError::Stalled { done, of }
}

/// An operation: a value is pushed and popped.
pub(super) fn push_pop(ops: u64, hold: Hold) -> Result<(), BenchError> {
    let (mut producer, mut consumer) = lane(CAPACITY);
    let mut tally = Tally::default();
    for number in 0..ops {
        producer.push(number).map_err(full(number, ops))?;
        if let Some(number) = consumer.pop() {
            tally.take(number);
        }
    }
    hold();
    tally.check(ops)
}

/// An operation: a chunk of 32 values is written, published, and read.
pub(super) fn chunk(ops: u64, hold: Hold) -> Result<(), BenchError> {
    let (mut producer, mut consumer) = lane(CAPACITY);
    let mut tally = Tally::default();
    let mut next = 0;
    for _ in 0..ops {
        let mut chunk = producer.write_chunk(BATCH as usize);
        while chunk.push(next).is_ok() {
            next += 1;
        }
        chunk.commit();
        consumer
            .read_chunk(BATCH as usize)
            .for_each(|number| tally.take(number));
    }
    hold();
    tally.check(BATCH * ops)
}

/// An operation: a value is pushed into an outlet and popped from its inlet.
pub(super) fn link_push_pop(ops: u64, hold: Hold) -> Result<(), BenchError> {
    on_one_shard(move || async move {
        let (producer, consumer) = lane(CAPACITY);
        let (outlet, inlet) = (Outlet::new(producer), Inlet::new(consumer));
        let mut tally = Tally::default();
        for number in 0..ops {
            outlet.push(number).map_err(full(number, ops))?;
            if let Some(number) = inlet.pop() {
                tally.take(number);
            }
            if number % BATCH == 0 {
                yield_now().await;
            }
        }
        hold();
        tally.check(ops)
    })
}

/// An operation: a value is sent and received by futures that are ready at once, each of which
/// asks for its task's budget.
pub(super) fn link_send_recv(ops: u64, hold: Hold) -> Result<(), BenchError> {
    on_one_shard(move || async move {
        let (producer, consumer) = lane(CAPACITY);
        let (outlet, inlet) = (Outlet::new(producer), Inlet::new(consumer));
        let mut tally = Tally::default();
        for number in 0..ops {
            outlet.send(number).await.map_err(full(number, ops))?;
            if let Some(number) = inlet.recv().await {
                tally.take(number);
            }
            if number % BATCH == 0 {
                yield_now().await;
            }
        }
        hold();
        tally.check(ops)
    })
}
