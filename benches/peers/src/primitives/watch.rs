//! The latest value: tokio's and postage's watch channels, eyeball's observable.

use std::sync::{Arc, Mutex, PoisonError};

use corelane_bench_harness::{Latest, Source};
use postage::stream::Stream as _;

/// tokio's watch channel.
#[derive(Clone)]
pub(crate) struct Tokio(tokio::sync::watch::Sender<u64>);

impl Latest for Tokio {
    fn with(value: u64) -> Self {
        Self(tokio::sync::watch::Sender::new(value))
    }

    #[inline]
    fn get(&self) -> u64 {
        *self.0.borrow()
    }

    #[inline]
    fn set(&self, value: u64) -> bool {
        self.0.send_replace(value);
        true
    }
}

impl Source for Tokio {
    type Feed = tokio::sync::watch::Receiver<u64>;

    fn open(_has_no_queue: usize) -> Self {
        Self::with(0)
    }

    async fn send(&self, value: u64) -> bool {
        self.set(value)
    }

    fn feed(&self) -> Self::Feed {
        let mut feed = self.0.subscribe();
        feed.mark_changed(); // the current value comes first
        feed
    }

    async fn pull(feed: &mut Self::Feed, mut take: impl FnMut(u64) -> bool) -> bool {
        if feed.changed().await.is_err() {
            return false;
        }
        let value = *feed.borrow_and_update();
        take(value)
    }

    /// It has no such call: a value that no row sends lets every feed end.
    fn close(&self) {
        self.0.send_replace(u64::MAX);
    }
}

/// eyeball's observable for several writers.
#[derive(Clone)]
pub(crate) struct Eyeball(eyeball::SharedObservable<u64>);

impl Latest for Eyeball {
    fn with(value: u64) -> Self {
        Self(eyeball::SharedObservable::new(value))
    }

    #[inline]
    fn get(&self) -> u64 {
        self.0.get()
    }

    #[inline]
    fn set(&self, value: u64) -> bool {
        self.0.set(value);
        true
    }
}

impl Source for Eyeball {
    type Feed = eyeball::Subscriber<u64>;

    fn open(_has_no_queue: usize) -> Self {
        Self::with(0)
    }

    async fn send(&self, value: u64) -> bool {
        self.set(value)
    }

    fn feed(&self) -> Self::Feed {
        self.0.subscribe_reset()
    }

    async fn pull(feed: &mut Self::Feed, mut take: impl FnMut(u64) -> bool) -> bool {
        feed.next().await.is_some_and(&mut take)
    }

    /// As [`Tokio`]'s.
    fn close(&self) {
        self.0.set(u64::MAX);
    }
}

/// postage's watch channel. Its sender belongs to one owner, so a lock stands around it, which
/// nobody else takes in these rows.
#[derive(Clone)]
pub(crate) struct Postage {
    sender: Arc<Mutex<postage::watch::Sender<u64>>>,
    receiver: postage::watch::Receiver<u64>,
}

impl Latest for Postage {
    fn with(value: u64) -> Self {
        let (sender, receiver) = postage::watch::channel_with(value);
        Self {
            sender: Arc::new(Mutex::new(sender)),
            receiver,
        }
    }

    #[inline]
    fn get(&self) -> u64 {
        *self.receiver.borrow()
    }

    #[inline]
    fn set(&self, value: u64) -> bool {
        let mut sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        *sender.borrow_mut() = value;
        true
    }
}

impl Source for Postage {
    type Feed = postage::watch::Receiver<u64>;

    fn open(_has_no_queue: usize) -> Self {
        Self::with(0)
    }

    async fn send(&self, value: u64) -> bool {
        self.set(value)
    }

    fn feed(&self) -> Self::Feed {
        self.receiver.clone()
    }

    async fn pull(feed: &mut Self::Feed, mut take: impl FnMut(u64) -> bool) -> bool {
        feed.recv().await.is_some_and(&mut take)
    }

    /// As [`Tokio`]'s.
    fn close(&self) {
        self.set(u64::MAX);
    }
}
