//! Rings of 64-bit integers: one for all producers, or shards; and one with both ends awaited.

use std::time::Duration;

use corelane_bench_harness::{AwaitQueue, Pull, Push, Queue, Shape};
use corelane_primitives::{Consumer64, Ring64, Shards64};

use super::{Rx, Tx, clones};

/// One ring.
pub(crate) struct One;

impl Queue for One {
    type Producer = Tx<Ring64>;
    type Consumer = Rx<Consumer64>;

    fn open(shape: Shape) -> (Vec<Self::Producer>, Self::Consumer) {
        clones(Ring64::new(shape.slots), shape.producers)
    }
}

/// Rings side by side.
pub(crate) struct Several;

impl Queue for Several {
    type Producer = Tx<Shards64>;
    type Consumer = Rx<Consumer64>;

    fn open(shape: Shape) -> (Vec<Self::Producer>, Self::Consumer) {
        let rings = Shards64::new(shape.shards, shape.slots / shape.shards);
        clones(rings, shape.producers)
    }
}

macro_rules! push {
    ($ring:ty) => {
        impl Push for Tx<$ring> {
            #[inline]
            fn push(&mut self, value: u64) -> bool {
                self.0.push(value).is_ok()
            }

            fn push_batch(&mut self, values: &[u64]) -> usize {
                self.0.push_batch(values).unwrap_or(0)
            }

            fn push_wait(&mut self, value: u64, timeout: Duration) -> bool {
                self.0.blocking_push(value, timeout).is_ok()
            }
        }
    };
}

push!(Ring64);
push!(Shards64);

impl Pull for Rx<Consumer64> {
    #[inline]
    fn pop(&mut self) -> Option<u64> {
        self.0.pop()
    }

    #[inline]
    fn pull(&mut self, max: usize, mut take: impl FnMut(u64)) -> usize {
        self.0.fold(max, (), |(), value| take(value)).consumed
    }

    fn pop_batch(&mut self, max: usize, out: &mut Vec<u64>) -> usize {
        self.0.pop_batch(out, max)
    }

    fn pop_wait(&mut self) -> Option<u64> {
        self.0.blocking_recv()
    }
}

impl AwaitQueue for One {
    type Sender = Tx<Ring64>;
    type Receiver = Rx<Consumer64>;

    fn open(shape: Shape) -> (Vec<Self::Sender>, Self::Receiver) {
        <Self as Queue>::open(shape)
    }

    async fn send(sender: &mut Self::Sender, value: u64) -> bool {
        sender.0.push_wait(value, Duration::MAX).await.is_ok()
    }

    async fn receive(receiver: &mut Self::Receiver, max: usize, out: &mut Vec<u64>) -> usize {
        if receiver.0.ready().await {
            receiver.0.pop_batch(out, max)
        } else {
            0
        }
    }
}
