//! What who may not wait is told, and that no value is lost by it.

use crate::poll;
use corelane_primitives::{
    Closed, NextError, Order, Overflow, SetError, Subscription, Topic, TopicOverflow,
    TryPublishError, TrySetError,
};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Waker};

const ORDERS: [Order; 2] = [Order::Total, Order::PerPublisher];

/// A value that only one place can have.
#[derive(Debug, PartialEq)]
struct Only(u64);

/// Feeds clone what they yield.
impl Clone for Only {
    fn clone(&self) -> Self {
        Self(self.0)
    }
}

/// Full while there is no room, Busy while the room is somebody's who waits, and Closed at the end;
/// the value comes back each time, and nobody overtakes.
// proves: T-4
// proves: T-9
#[test]
fn publish_that_does_not_wait_is_told_why_while_others_do() {
    for order in ORDERS {
        let topic = Topic::new(1, TopicOverflow::Backpressure).order(order);
        let mut feed = topic.subscribe();
        assert_eq!(topic.try_publish(Only(1)), Ok(()));
        let refused = topic.try_publish(Only(9));
        assert_eq!(refused, Err(TryPublishError::Full(Only(9))));
        let mut first = pin!(topic.publish(Only(2)));
        let mut second = pin!(topic.publish(Only(3)));
        assert!(poll(first.as_mut(), Waker::noop()).is_pending());
        let refused = topic.try_publish(Only(9));
        assert_eq!(refused, Err(TryPublishError::Full(Only(9))));
        assert_eq!(feed.try_next(), Ok(Only(1)));
        let refused = topic.try_publish(Only(9));
        assert_eq!(refused, Err(TryPublishError::Busy(Only(9))));
        // Who comes to wait later does not overtake either.
        assert!(poll(second.as_mut(), Waker::noop()).is_pending());
        assert_eq!(poll(first.as_mut(), Waker::noop()), Poll::Ready(Ok(())));
        topic.close();
        let refused = topic.try_publish(Only(9));
        assert_eq!(refused, Err(TryPublishError::Closed(Only(9))));
        let ended = poll(second.as_mut(), Waker::noop());
        assert_eq!(ended, Poll::Ready(Err(Closed(Only(3)))));
        let refused = topic.try_publish(Only(9));
        assert_eq!(refused, Err(TryPublishError::Closed(Only(9))));
        assert_eq!(feed.try_next(), Ok(Only(2)), "what was accepted comes");
        assert_eq!(feed.try_next(), Err(NextError::Closed));
    }
}

// proves: S-7
// proves: S-9
#[test]
fn set_that_does_not_wait_is_told_why_while_others_do() {
    let subscription = Subscription::new(Only(0), 1, Overflow::Backpressure);
    let mut feed = subscription.changes();
    assert!(subscription.try_set(Only(1)).is_ok());
    let refused = subscription.try_set(Only(9));
    assert_eq!(refused, Err(TrySetError::Full(Only(9))));
    let mut first = pin!(subscription.set(Only(2)));
    let mut second = pin!(subscription.set(Only(3)));
    assert!(poll(first.as_mut(), Waker::noop()).is_pending());
    let refused = subscription.try_set(Only(9));
    assert_eq!(refused, Err(TrySetError::Full(Only(9))));
    assert_eq!(
        (feed.try_next(), feed.try_next()),
        (Ok(Only(0)), Ok(Only(1)))
    );
    let refused = subscription.try_set(Only(9));
    assert_eq!(refused, Err(TrySetError::Busy(Only(9))));
    assert!(poll(second.as_mut(), Waker::noop()).is_pending());
    assert_eq!(
        subscription.get_cloned(),
        Only(1),
        "nothing of a wait is visible"
    );
    assert!(matches!(
        poll(first.as_mut(), Waker::noop()),
        Poll::Ready(Ok(_))
    ));
    subscription.close();
    let refused = subscription.try_set(Only(9));
    assert_eq!(refused, Err(TrySetError::Closed(Only(9))));
    let ended = poll(second.as_mut(), Waker::noop());
    assert_eq!(ended, Poll::Ready(Err(SetError::Closed(Only(3)))));
    let refused = subscription.try_set(Only(9));
    assert_eq!(refused, Err(TrySetError::Closed(Only(9))));
    assert_eq!(feed.try_next(), Ok(Only(2)));
    assert_eq!(feed.try_next(), Err(NextError::Closed));
}

/// Ends what waits for a value and then says that it was set all the same.
// proves: S-6
#[test]
fn set_that_names_no_version_is_seen_and_delivered_too() {
    for overflow in [
        Overflow::Backpressure,
        Overflow::DropNew,
        Overflow::DropOldest,
        Overflow::Fail,
    ] {
        let subscription = Subscription::new(Only(0), 2, overflow);
        let mut feed = subscription.changes();
        let set = poll(pin!(subscription.set_eventually(Only(1))), Waker::noop());
        assert_eq!(set, Poll::Ready(Ok(())));
        assert_eq!(subscription.get_cloned(), Only(1));
        assert_eq!(
            (feed.try_next(), feed.try_next()),
            (Ok(Only(0)), Ok(Only(1)))
        );
        subscription.close();
        let set = poll(pin!(subscription.set_eventually(Only(2))), Waker::noop());
        assert_eq!(set, Poll::Ready(Err(SetError::Closed(Only(2)))));
    }
}

/// Without a feed a value is taken, and dropped at once: before the first one, after the last one,
/// and by each way to publish.
// proves: T-1
#[test]
fn publish_without_a_feed_is_accepted_and_keeps_nothing() {
    for order in ORDERS {
        let root = Arc::new(());
        let topic = Topic::new(4, TopicOverflow::Backpressure).order(order);
        let publish_all = || {
            for _ in 0..10 {
                assert!(topic.try_publish(Arc::clone(&root)).is_ok());
                let published = poll(pin!(topic.publish(Arc::clone(&root))), Waker::noop());
                assert_eq!(published, Poll::Ready(Ok(())));
                let values = std::iter::repeat_n(Arc::clone(&root), 10);
                let published = poll(pin!(topic.publish_batch(values)), Waker::noop());
                assert_eq!(published, Poll::Ready(Ok(10)));
            }
        };
        publish_all();
        assert_eq!(Arc::strong_count(&root), 1);
        assert_eq!((topic.stats().published, topic.stats().nodes), (0, 0));
        let mut feed = topic.subscribe();
        assert_eq!(feed.try_next(), Err(NextError::Empty));
        assert!(topic.try_publish(Arc::clone(&root)).is_ok());
        assert!(feed.try_next().is_ok());
        drop(feed);
        let before = topic.stats();
        let kept = Arc::strong_count(&root);
        publish_all();
        assert_eq!(topic.stats(), before);
        assert_eq!(Arc::strong_count(&root), kept);
    }
}
