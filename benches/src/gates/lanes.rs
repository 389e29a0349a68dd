//! Lanes: bare, and as the ends that a shard holds.

use corelane::task::yield_now;
use corelane::{Inlet, Outlet, spawn};
use corelane_bench_harness::{BenchError, Tally};
use corelane_primitives::lane;

use super::Hold;
use super::shard::on_one_shard;
use crate::ours;

/// Slots of every lane.
const CAPACITY: usize = 256;
/// Values that are moved together.
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

/// An operation: a value is pushed into an outlet and popped from its inlet. Each 32 values are
/// flushed, and followed by a yield.
pub(super) fn link_push_pop(ops: u64, hold: Hold) -> Result<(), BenchError> {
    on_one_shard(move || async move {
        let (producer, consumer) = lane(CAPACITY);
        let (outlet, inlet) = (Outlet::new(producer), Inlet::new(consumer));
        let mut tally = Tally::default();
        let mut next = 0;
        while next < ops {
            let end = ops.min(next + BATCH);
            for number in next..end {
                outlet.push(number).map_err(full(number, ops))?;
            }
            outlet.flush();
            while let Some(number) = inlet.pop() {
                tally.take(number);
            }
            yield_now().await;
            next = end;
        }
        hold();
        tally.check(ops)
    })
}

/// An operation: a task sends a value and another task of the shard receives it.
pub(super) fn link_send_recv(ops: u64, hold: Hold) -> Result<(), BenchError> {
    on_one_shard(move || async move {
        let (producer, consumer) = lane(CAPACITY);
        let sender = spawn(async move {
            let outlet = Outlet::new(producer);
            for number in 0..ops {
                outlet.send(number).await.map_err(full(number, ops))?;
            }
            Ok(())
        });
        let inlet = Inlet::new(consumer);
        let mut tally = Tally::default();
        while let Some(number) = inlet.recv().await {
            tally.take(number);
        }
        hold();
        sender.await.map_err(ours)??;
        tally.check(ops)
    })
}
