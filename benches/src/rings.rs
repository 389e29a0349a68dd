//! Bounded queues with one consumer: a lane for each producer.

use std::time::Duration;

use corelane::IdlePolicy;
use corelane_bench_harness::{
    BenchError, Entry, Host, Pull, Push, Queue, Shape, Walk, one_queue_entries, spsc_entries,
};
use corelane_primitives::{Consumer, Producer, lane};

use crate::tasks::on_shard;
use crate::{WHO, ours};

pub(crate) fn entries() -> Vec<Entry> {
    [
        one_queue_entries::<LaneEach, Shard>("corelane-lane-each"),
        spsc_entries::<LaneEach, Shard>(WHO),
    ]
    .concat()
}

/// Tasks on a shard.
pub(crate) struct Shard;

impl Host for Shard {
    fn run<F: Future<Output = ()> + 'static>(
        core: usize,
        tasks: Vec<F>,
        begin: impl FnOnce() + 'static,
    ) -> Result<(), BenchError> {
        on_shard(core, IdlePolicy::default(), move || async move {
            let tasks: Vec<_> = tasks.into_iter().map(corelane::spawn).collect();
            begin();
            for task in tasks {
                task.await.map_err(ours)?;
            }
            Ok(())
        })
    }

    async fn yield_now() {
        corelane::task::yield_now().await;
    }
}

/// A lane for each producer, with its share of the slots; the consumer goes round.
pub(crate) struct LaneEach;

/// A producer's end.
pub(crate) struct Tx<S>(S);

/// The consumer's end.
pub(crate) struct Rx<R>(R);

impl Queue for LaneEach {
    type Producer = Tx<Producer<u64>>;
    type Consumer = Walk<Rx<Consumer<u64>>>;

    fn open(shape: Shape) -> (Vec<Self::Producer>, Self::Consumer) {
        // Whole powers of two, never more than the row's slots together.
        let slots = 1 << (shape.slots / shape.producers).ilog2();
        let lanes = (0..shape.producers).map(|_| lane(slots));
        let ends = lanes.map(|(producer, consumer)| (Tx(producer), Rx(consumer)));
        let (producers, consumers) = ends.unzip();
        (producers, Walk::new(consumers))
    }
}

impl Push for Tx<Producer<u64>> {
    #[inline]
    fn push(&mut self, value: u64) -> bool {
        self.0.push(value).is_ok()
    }

    fn push_batch(&mut self, values: &[u64]) -> usize {
        self.0.push_batch(&mut values.iter().copied())
    }

    fn push_wait(&mut self, value: u64, _timeout: Duration) -> bool {
        self.0.blocking_send(value).is_ok()
    }
}

impl Pull for Rx<Consumer<u64>> {
    #[inline]
    fn pop(&mut self) -> Option<u64> {
        self.0.pop()
    }

    #[inline]
    fn pull(&mut self, max: usize, take: impl FnMut(u64)) -> usize {
        let chunk = self.0.read_chunk(max);
        let count = chunk.len();
        chunk.for_each(take);
        count
    }

    fn pop_wait(&mut self) -> Option<u64> {
        self.0.blocking_recv()
    }
}
