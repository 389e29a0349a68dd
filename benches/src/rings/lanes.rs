//! A lane for each producer.

use corelane_bench_harness::{Pull, Push, Queue, Shape, Walk};
use corelane_primitives::{Consumer, Producer, lane};

use super::{Rx, Tx};

/// A lane for each producer, with its share of the slots; the consumer goes round.
pub(crate) struct LaneEach;

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

    fn notify(&mut self) {
        self.0.notify();
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
