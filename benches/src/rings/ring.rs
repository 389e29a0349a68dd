//! Rings of values of any type, here of integers: as they stand, and with both ends awaited.

use std::time::Duration;

use corelane_bench_harness::{AwaitQueue, Pull, Push, Queue, Shape};
use corelane_primitives::{Ring, RingConsumer};

use super::{Rx, Tx, clones};

/// One ring for all producers.
pub(crate) struct AnyRing;

impl Queue for AnyRing {
    type Producer = Tx<Ring<u64>>;
    type Consumer = Rx<RingConsumer<u64>>;

    fn open(shape: Shape) -> (Vec<Self::Producer>, Self::Consumer) {
        clones(Ring::new(shape.slots), shape.producers)
    }
}

impl Push for Tx<Ring<u64>> {
    #[inline]
    fn push(&mut self, value: u64) -> bool {
        self.0.push(value).is_ok()
    }

    fn push_wait(&mut self, value: u64, timeout: Duration) -> bool {
        self.0.blocking_push(value, timeout).is_ok()
    }
}

impl Pull for Rx<RingConsumer<u64>> {
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

impl AwaitQueue for AnyRing {
    type Sender = Tx<Ring<u64>>;
    type Receiver = Rx<RingConsumer<u64>>;

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
