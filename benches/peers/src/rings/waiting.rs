//! The same channels with both ends awaited.

use corelane_bench_harness::{AwaitQueue, Shape};

/// A channel: its ends, how they are made, and its two calls that are awaited.
///
/// After the first value, those that are there are taken without waiting.
macro_rules! channel {
    (
        $name:ident: $sender:ty, $receiver:ty, $open:expr;
        first: |$first:ident| $recv:expr, then: |$then:ident| $try_recv:expr;
    ) => {
        pub(crate) struct $name;

        impl AwaitQueue for $name {
            type Sender = $sender;
            type Receiver = $receiver;

            fn open(shape: Shape) -> (Vec<$sender>, $receiver) {
                let (sender, receiver) = $open(shape.slots);
                let senders = (0..shape.producers).map(|_| sender.clone());
                (senders.collect(), receiver)
            }

            async fn send(sender: &mut $sender, value: u64) -> bool {
                sender.send(value).await.is_ok()
            }

            async fn receive(receiver: &mut $receiver, max: usize, out: &mut Vec<u64>) -> usize {
                let before = out.len();
                let $first = &mut *receiver;
                out.extend($recv.await);
                if out.len() == before {
                    return 0; // closed
                }
                let $then = receiver;
                out.extend(std::iter::from_fn(|| $try_recv).take(max - 1));
                out.len() - before
            }
        }
    };
}

channel! {
    Kanal: kanal::AsyncSender<u64>, kanal::AsyncReceiver<u64>, kanal::bounded_async;
    first: |receiver| receiver.recv(), then: |receiver| receiver.try_recv().ok().flatten();
}

channel! {
    AsyncChannel: async_channel::Sender<u64>, std::pin::Pin<Box<async_channel::Receiver<u64>>>,
        boxed;
    first: |receiver| receiver.recv(), then: |receiver| receiver.try_recv().ok();
}

channel! {
    Thingbuf: thingbuf::mpsc::Sender<u64>, thingbuf::mpsc::Receiver<u64>, thingbuf::mpsc::channel;
    first: |receiver| receiver.recv(), then: |receiver| receiver.try_recv().ok();
}

fn boxed(
    slots: usize,
) -> (
    async_channel::Sender<u64>,
    std::pin::Pin<Box<async_channel::Receiver<u64>>>,
) {
    let (sender, receiver) = async_channel::bounded(slots);
    (sender, Box::pin(receiver))
}

/// flume has other names for what is awaited.
pub(crate) struct Flume;

impl AwaitQueue for Flume {
    type Sender = flume::Sender<u64>;
    type Receiver = flume::Receiver<u64>;

    fn open(shape: Shape) -> (Vec<Self::Sender>, Self::Receiver) {
        let (sender, receiver) = flume::bounded(shape.slots);
        (vec![sender; shape.producers], receiver)
    }

    async fn send(sender: &mut Self::Sender, value: u64) -> bool {
        sender.send_async(value).await.is_ok()
    }

    async fn receive(receiver: &mut Self::Receiver, _max: usize, out: &mut Vec<u64>) -> usize {
        let before = out.len();
        out.extend(receiver.recv_async().await);
        if out.len() == before {
            return 0; // closed
        }
        out.extend(receiver.drain());
        out.len() - before
    }
}

/// tokio has a call for several.
pub(crate) struct Tokio;

impl AwaitQueue for Tokio {
    type Sender = tokio::sync::mpsc::Sender<u64>;
    type Receiver = tokio::sync::mpsc::Receiver<u64>;

    fn open(shape: Shape) -> (Vec<Self::Sender>, Self::Receiver) {
        let (sender, receiver) = tokio::sync::mpsc::channel(shape.slots);
        (vec![sender; shape.producers], receiver)
    }

    async fn send(sender: &mut Self::Sender, value: u64) -> bool {
        sender.send(value).await.is_ok()
    }

    async fn receive(receiver: &mut Self::Receiver, max: usize, out: &mut Vec<u64>) -> usize {
        receiver.recv_many(out, max).await
    }
}
