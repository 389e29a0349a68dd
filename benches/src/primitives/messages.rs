//! Topics: feeds take batches, or one message a call; and those whose full feeds lose some.

use corelane_bench_harness::Source;
use corelane_primitives::{Feed, Topic, TopicOverflow};

use super::BATCH;

/// A feed and where its batches go.
pub(super) struct Batch {
    feed: Feed<u64>,
    values: Vec<u64>,
}

impl Batch {
    pub(super) fn of(feed: Feed<u64>) -> Self {
        let values = Vec::with_capacity(BATCH);
        Self { feed, values }
    }
}

/// Takes a batch; `false` at the end, or when `take` has had enough.
pub(super) async fn pull_batch(batch: &mut Batch, take: impl FnMut(u64) -> bool) -> bool {
    let Batch { feed, values } = batch;
    values.clear();
    match feed.next_batch(values, BATCH).await {
        Ok(0) | Err(_) => false,
        Ok(_) => values.iter().copied().all(take),
    }
}

/// Takes one value; `false` at the end, or when `take` has had enough.
pub(super) async fn pull_one(feed: &mut Feed<u64>, mut take: impl FnMut(u64) -> bool) -> bool {
    match feed.next().await {
        Some(Ok(value)) => take(value),
        Some(Err(_)) | None => false,
    }
}

macro_rules! topic {
    ($(#[$doc:meta])* $name:ident: $overflow:ident, $feed:ty, $make:expr, $pull:path) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub(super) struct $name(Topic<u64>);

        impl Source for $name {
            type Feed = $feed;

            fn open(capacity: usize) -> Self {
                Self(Topic::new(capacity, TopicOverflow::$overflow))
            }

            async fn send(&self, value: u64) -> bool {
                self.0.publish(value).await.is_ok()
            }

            fn feed(&self) -> $feed {
                $make(self.0.subscribe())
            }

            fn pull(
                feed: &mut $feed,
                take: impl FnMut(u64) -> bool,
            ) -> impl Future<Output = bool> {
                $pull(feed, take)
            }

            fn close(&self) {
                self.0.close();
            }
        }
    };
}

topic!(
    /// Nothing is lost, and feeds take batches.
    All: Backpressure, Batch, Batch::of, pull_batch
);
topic!(
    /// Nothing is lost, and feeds take one message a call.
    AllSingly: Backpressure, Feed<u64>, std::convert::identity, pull_one
);
topic!(
    /// A full feed loses its oldest message.
    Oldest: DropOldest, Batch, Batch::of, pull_batch
);
topic!(
    /// A full feed does not get the newest message.
    Newest: DropNew, Batch, Batch::of, pull_batch
);
