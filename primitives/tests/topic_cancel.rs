//! Each future of a topic is dropped after each number of polls, in each state, with each policy
//! and order: afterwards the counts balance and nobody is stuck.
#![cfg(not(corelane_loom))]

use corelane_primitives::{Feed, Order, Topic, TopicOverflow};
use std::pin::pin;
use std::task::{Context, Waker};

const CAPACITY: usize = 2;
const POLICIES: [TopicOverflow; 3] = [
    TopicOverflow::Backpressure,
    TopicOverflow::DropNew,
    TopicOverflow::DropOldest,
];
const ORDERS: [Order; 2] = [Order::Total, Order::PerPublisher];

/// What is polled and dropped.
#[derive(Clone, Copy, Debug)]
enum Call {
    Next,
    Batch,
    Publish,
    PublishBatch,
}

/// Polls `future` up to `polls` times, and drops it; what it answered, if it did.
fn poll_and_drop<F: Future>(future: F, polls: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..polls {
        if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return Some(output);
        }
    }
    None
}

struct Run {
    topic: Topic<u64>,
    feeds: Vec<Feed<u64>>,
    accepted: u64,
    taken: u64,
}

impl Run {
    fn new(policy: TopicOverflow, order: Order, inside: u64) -> Self {
        let topic = Topic::new(CAPACITY, policy).order(order);
        let feeds = vec![topic.subscribe(), topic.subscribe()];
        let mut run = Self {
            topic,
            feeds,
            accepted: 0,
            taken: 0,
        };
        for value in 0..inside {
            run.accepted += u64::from(run.topic.try_publish(value).is_ok());
        }
        run
    }

    fn call(&mut self, call: Call, polls: usize) {
        match call {
            Call::Next => {
                let item = poll_and_drop(self.feeds[0].next(), polls);
                self.taken += u64::from(matches!(item, Some(Some(Ok(_)))));
            }
            Call::Batch => {
                let mut out = Vec::new();
                poll_and_drop(self.feeds[0].next_batch(&mut out, 8), polls);
                self.taken += out.len() as u64;
            }
            Call::Publish => {
                let published = poll_and_drop(self.topic.publish(9), polls);
                self.accepted += u64::from(published == Some(Ok(())));
            }
            Call::PublishBatch => {
                let mut values = 10..15_u64;
                let published = poll_and_drop(self.topic.publish_batch(values.by_ref()), polls);
                let (given, refused) = (5 - values.count() as u64, published.is_none());
                // The last one that was given waited, or was refused by a closed topic.
                let lost = refused || matches!(published, Some(Err(_)));
                self.accepted += given - u64::from(lost && given > 0);
            }
        }
    }

    fn end(mut self) {
        let feeds = self.feeds.iter();
        let sums = feeds.map(|feed| {
            let stats = feed.stats();
            stats.delivered + stats.dropped + stats.lag
        });
        assert!(sums.eq([self.accepted; 2]));
        assert_eq!(self.feeds[0].stats().delivered, self.taken);
        // Nobody is stuck: with the feeds gone or emptied, publishes and reads go on.
        if !self.topic.is_closed() {
            for feed in &mut self.feeds {
                while feed.try_next().is_ok() {}
            }
            assert!(self.topic.try_publish(20).is_ok());
            assert!(self.feeds.iter_mut().all(|feed| feed.try_next() == Ok(20)));
        }
        self.topic.close();
        for feed in &mut self.feeds {
            while feed.try_next().is_ok() {}
            assert_eq!(feed.stats().lag, 0);
        }
    }
}

// proves: T-6
// proves: T-8
#[test]
fn future_dropped_anywhere_leaves_the_counts_whole() {
    let calls = [Call::Next, Call::Batch, Call::Publish, Call::PublishBatch];
    for policy in POLICIES {
        for order in ORDERS {
            for inside in 0..=CAPACITY as u64 + 1 {
                for is_closed in [false, true] {
                    for (first, polls) in calls
                        .into_iter()
                        .flat_map(|call| (0..3).map(move |polls| (call, polls)))
                    {
                        for second in calls {
                            let mut run = Run::new(policy, order, inside);
                            if is_closed {
                                run.topic.close();
                            }
                            run.call(first, polls);
                            run.call(second, 1);
                            run.end();
                        }
                    }
                }
            }
        }
    }
}
