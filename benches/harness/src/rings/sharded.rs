//! Several queues as one: what sharding is for a library that has none.

use std::marker::PhantomData;

use super::{Pull, Queue, Shape, wait_by_looking};

/// `shards` queues of `Q`; producers stick to one each, the consumer's start rotates.
pub struct Sharded<Q>(PhantomData<Q>);

/// The consumers of all shards that have a producer.
pub struct Walk<C> {
    shards: Vec<C>,
    first: usize,
}

impl<Q: Queue> Queue for Sharded<Q> {
    type Producer = Q::Producer;
    type Consumer = Walk<Q::Consumer>;

    fn open(shape: Shape) -> (Vec<Q::Producer>, Self::Consumer) {
        let used = shape.shards.min(shape.producers);
        let mut shards = Vec::with_capacity(used);
        let mut ends = Vec::with_capacity(used);
        for shard in 0..used {
            let producers = (shape.producers - shard).div_ceil(used);
            let (producer, consumer) = Q::open(Shape {
                slots: shape.slots / shape.shards,
                producers,
                shards: 1,
            });
            ends.push(producer.into_iter());
            shards.push(consumer);
        }
        let producers = (0..shape.producers).filter_map(|index| ends[index % used].next());
        (producers.collect(), Walk::new(shards))
    }
}

impl<C> Walk<C> {
    /// Goes round `shards`.
    pub fn new(shards: Vec<C>) -> Self {
        Self { shards, first: 0 }
    }
}

impl<C: Pull> Pull for Walk<C> {
    fn pop(&mut self) -> Option<u64> {
        let mut popped = None;
        self.pull(1, |value| popped = Some(value));
        popped
    }

    fn pull(&mut self, max: usize, mut take: impl FnMut(u64)) -> usize {
        let count = self.shards.len();
        let mut taken = 0;
        for _ in 0..count {
            let shard = &mut self.shards[self.first];
            taken += shard.pull(max - taken, &mut take);
            self.first += 1;
            if self.first == count {
                self.first = 0;
            }
            if taken >= max {
                break;
            }
        }
        taken
    }

    fn pop_wait(&mut self) -> Option<u64> {
        match self.shards.as_mut_slice() {
            // Only one can be waited for in the library's own way.
            [only] => only.pop_wait(),
            _ => wait_by_looking(self),
        }
    }
}
