//! rtrb: a ring for each producer, with its share of the slots; the consumer reads chunks.

use corelane_bench_harness::{Pull, Push, Queue, Shape, Walk};
use rtrb::{Consumer, Producer, RingBuffer};

use super::{Rx, Tx};

pub(crate) struct Each;

impl Queue for Each {
    type Producer = Tx<Producer<u64>>;
    type Consumer = Walk<Rx<Consumer<u64>>>;

    fn open(shape: Shape) -> (Vec<Self::Producer>, Self::Consumer) {
        let slots = (shape.slots / shape.producers).max(1);
        let rings = (0..shape.producers).map(|_| RingBuffer::new(slots));
        let ends = rings.map(|(producer, consumer)| (Tx(producer), Rx(consumer)));
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
        let room = self.0.slots().min(values.len());
        match self.0.write_chunk_uninit(room) {
            Ok(chunk) => chunk.fill_from_iter(values.iter().copied()),
            Err(_) => 0,
        }
    }
}

impl Pull for Rx<Consumer<u64>> {
    #[inline]
    fn pop(&mut self) -> Option<u64> {
        self.0.pop().ok()
    }

    #[inline]
    fn pull(&mut self, max: usize, take: impl FnMut(u64)) -> usize {
        let count = self.0.slots().min(max);
        match self.0.read_chunk(count) {
            Ok(chunk) => {
                let (first, second) = chunk.as_slices();
                first.iter().chain(second).copied().for_each(take);
                chunk.commit_all();
                count
            }
            Err(_) => 0,
        }
    }
}
