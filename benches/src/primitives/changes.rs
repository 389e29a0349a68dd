//! A subscription whose writer waits: feeds take batches, or one change a call.

use corelane_bench_harness::Source;
use corelane_primitives::{Overflow, Subscription};

use super::messages::{Batch, pull_batch, pull_one};

/// By `next_batch`.
#[derive(Clone)]
pub(super) struct Batches(Subscription<u64>);

/// By `next`.
#[derive(Clone)]
pub(super) struct Singly(Subscription<u64>);

fn open(capacity: usize) -> Subscription<u64> {
    Subscription::new(0, capacity, Overflow::Backpressure)
}

impl Source for Batches {
    type Feed = Batch;

    fn open(capacity: usize) -> Self {
        Self(open(capacity))
    }

    async fn send(&self, value: u64) -> bool {
        self.0.set(value).await.is_ok()
    }

    fn feed(&self) -> Batch {
        Batch::of(self.0.changes())
    }

    fn pull(feed: &mut Batch, take: impl FnMut(u64) -> bool) -> impl Future<Output = bool> {
        pull_batch(feed, take)
    }

    fn close(&self) {
        self.0.close();
    }
}

impl Source for Singly {
    type Feed = corelane_primitives::Feed<u64>;

    fn open(capacity: usize) -> Self {
        Self(open(capacity))
    }

    async fn send(&self, value: u64) -> bool {
        self.0.set(value).await.is_ok()
    }

    fn feed(&self) -> Self::Feed {
        self.0.changes()
    }

    fn pull(feed: &mut Self::Feed, take: impl FnMut(u64) -> bool) -> impl Future<Output = bool> {
        pull_one(feed, take)
    }

    fn close(&self) {
        self.0.close();
    }
}
