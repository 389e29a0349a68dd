//! Every value to all: broadcast channels.

use std::cell::RefCell;

use async_broadcast::InactiveReceiver;
use corelane_bench_harness::{ITEMS, Source};
use postage::sink::{Sink as _, TrySendError};
use postage::stream::Stream as _;

/// tokio's, with room for all values of a row: it makes nobody wait, and drops what is too old.
#[derive(Clone)]
pub(crate) struct Tokio(tokio::sync::broadcast::Sender<u64>);

impl Source for Tokio {
    type Feed = tokio::sync::broadcast::Receiver<u64>;

    fn open(capacity: usize) -> Self {
        Self(tokio::sync::broadcast::Sender::new(
            capacity.max(ITEMS as usize),
        ))
    }

    async fn send(&self, value: u64) -> bool {
        self.0.send(value).is_ok()
    }

    fn feed(&self) -> Self::Feed {
        self.0.subscribe()
    }

    async fn pull(feed: &mut Self::Feed, mut take: impl FnMut(u64) -> bool) -> bool {
        // A loss ends the feed, and the row's check tells.
        feed.recv().await.is_ok_and(&mut take)
    }

    /// It ends with its last sender.
    fn close(&self) {}
}

/// async-broadcast, which makes senders wait.
#[derive(Clone)]
pub(crate) struct AsyncBroadcast {
    sender: async_broadcast::Sender<u64>,
    keeps_open: InactiveReceiver<u64>,
}

impl Source for AsyncBroadcast {
    type Feed = async_broadcast::Receiver<u64>;

    fn open(capacity: usize) -> Self {
        let (sender, receiver) = async_broadcast::broadcast(capacity);
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
        feed.recv_direct().await.is_ok_and(&mut take)
    }

    fn close(&self) {
        self.sender.close();
    }
}

/// postage's, which makes senders wait. Only whoever sends borrows its sender.
#[derive(Clone)]
pub(crate) struct Postage(RefCell<postage::broadcast::Sender<u64>>);

impl Source for Postage {
    type Feed = postage::broadcast::Receiver<u64>;

    fn open(capacity: usize) -> Self {
        Self(RefCell::new(postage::broadcast::channel(capacity).0))
    }

    async fn send(&self, value: u64) -> bool {
        let tried = self.0.borrow_mut().try_send(value);
        match tried {
            Ok(()) => true,
            Err(TrySendError::Pending(value)) => {
                let mut sender = self.0.borrow().clone();
                sender.send(value).await.is_ok()
            }
            Err(TrySendError::Rejected(_)) => false,
        }
    }

    fn feed(&self) -> Self::Feed {
        self.0.borrow().subscribe()
    }

    async fn pull(feed: &mut Self::Feed, mut take: impl FnMut(u64) -> bool) -> bool {
        feed.recv().await.is_some_and(&mut take)
    }

    /// It ends with its last sender.
    fn close(&self) {}
}
