//! Channels that suite `rings` does not have.

use corelane_bench_harness::{AwaitQueue, Shape};
use crossfire::mpsc::Array;
use crossfire::{AsyncRx, MAsyncTx};
use postage::sink::Sink as _;
use postage::stream::Stream as _;

/// crossfire's bounded channel.
pub(crate) struct Crossfire;

impl AwaitQueue for Crossfire {
    type Sender = MAsyncTx<Array<u64>>;
    type Receiver = AsyncRx<Array<u64>>;

    fn open(shape: Shape) -> (Vec<Self::Sender>, Self::Receiver) {
        let (sender, receiver) = crossfire::mpsc::bounded_async(shape.slots);
        let senders = (0..shape.producers).map(|_| sender.clone());
        (senders.collect(), receiver)
    }

    async fn send(sender: &mut Self::Sender, value: u64) -> bool {
        sender.send(value).await.is_ok()
    }

    async fn receive(receiver: &mut Self::Receiver, max: usize, out: &mut Vec<u64>) -> usize {
        let before = out.len();
        out.extend(receiver.recv().await);
        if out.len() > before {
            out.extend(std::iter::from_fn(|| receiver.try_recv().ok()).take(max - 1));
        }
        out.len() - before
    }
}

/// postage's bounded channel.
pub(crate) struct Postage;

impl AwaitQueue for Postage {
    type Sender = postage::mpsc::Sender<u64>;
    type Receiver = postage::mpsc::Receiver<u64>;

    fn open(shape: Shape) -> (Vec<Self::Sender>, Self::Receiver) {
        let (sender, receiver) = postage::mpsc::channel(shape.slots);
        let senders = (0..shape.producers).map(|_| sender.clone());
        (senders.collect(), receiver)
    }

    async fn send(sender: &mut Self::Sender, value: u64) -> bool {
        sender.send(value).await.is_ok()
    }

    async fn receive(receiver: &mut Self::Receiver, max: usize, out: &mut Vec<u64>) -> usize {
        let before = out.len();
        out.extend(receiver.recv().await);
        if out.len() > before {
            out.extend(std::iter::from_fn(|| receiver.try_recv().ok()).take(max - 1));
        }
        out.len() - before
    }
}
