//! A channel: many producers, and a consumer that takes drains.

use corelane_bench_harness::{AwaitQueue, Shape};
use corelane_primitives::{Receiver, Sender, channel};

/// A channel of numbers.
pub(super) struct Queue;

impl AwaitQueue for Queue {
    type Sender = Sender<u64>;
    type Receiver = Receiver<u64>;

    fn open(shape: Shape) -> (Vec<Sender<u64>>, Receiver<u64>) {
        let (sender, receiver) = channel(shape.slots);
        let senders = (0..shape.producers).map(|_| sender.clone());
        (senders.collect(), receiver)
    }

    async fn send(sender: &mut Sender<u64>, value: u64) -> bool {
        sender.send(value).await.is_ok()
    }

    async fn receive(receiver: &mut Receiver<u64>, max: usize, out: &mut Vec<u64>) -> usize {
        receiver.recv_batch(out, max).await
    }
}
