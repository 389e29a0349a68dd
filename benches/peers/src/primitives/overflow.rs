//! Broadcast channels whose slow receivers lose their oldest values.

use async_broadcast::{InactiveReceiver, RecvError};
use corelane_bench_harness::Source;
use tokio::sync::broadcast;

/// tokio's: a receiver is told what it lost.
#[derive(Clone)]
pub(crate) struct Tokio(broadcast::Sender<u64>);

impl Source for Tokio {
    type Feed = broadcast::Receiver<u64>;

    fn open(capacity: usize) -> Self {
        Self(broadcast::Sender::new(capacity))
    }

    async fn send(&self, value: u64) -> bool {
        self.0.send(value).is_ok()
    }

    fn feed(&self) -> Self::Feed {
        self.0.subscribe()
    }

    async fn pull(feed: &mut Self::Feed, mut take: impl FnMut(u64) -> bool) -> bool {
        match feed.recv().await {
            Ok(value) => take(value),
            Err(broadcast::error::RecvError::Lagged(_)) => true,
            Err(broadcast::error::RecvError::Closed) => false,
        }
    }

    /// It ends with its last sender.
    fn close(&self) {}
}

/// async-broadcast with its overflow mode on.
#[derive(Clone)]
pub(crate) struct AsyncBroadcast {
    sender: async_broadcast::Sender<u64>,
    keeps_open: InactiveReceiver<u64>,
}

impl Source for AsyncBroadcast {
    type Feed = async_broadcast::Receiver<u64>;

    fn open(capacity: usize) -> Self {
        let (mut sender, receiver) = async_broadcast::broadcast(capacity);
        sender.set_overflow(true);
        let keeps_open = receiver.deactivate();
        Self { sender, keeps_open }
    }

    async fn send(&self, value: u64) -> bool {
        self.sender.broadcast_direct(value).await.is_ok()
    }

    fn feed(&self) -> Self::Feed {
        self.keeps_open.activate_cloned()
    }

    async fn pull(feed: &mut Self::Feed, mut take: impl FnMut(u64) -> bool) -> bool {
        match feed.recv_direct().await {
            Ok(value) => take(value),
            Err(RecvError::Overflowed(_)) => true,
            Err(RecvError::Closed) => false,
        }
    }

    fn close(&self) {
        self.sender.close();
    }
}
