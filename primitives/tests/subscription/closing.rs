//! How a subscription ends.

use crate::{POLICIES, bell, drain, now, poll_next};
use corelane_primitives::{Closed, NextError, Overflow, SetError, Subscription, TrySetError};
use futures_core::FusedStream;
use std::task::{Context, Poll};

// proves: S-7
#[test]
fn closing_delivers_the_final_value_then_the_end() {
    for overflow in POLICIES {
        for with in [false, true] {
            let subscription = Subscription::new(0, 2, overflow);
            let mut early = subscription.changes();
            let mut full = subscription.changes();
            let (rung, waker) = bell();
            assert_eq!(drain(&mut early), [0]);
            for value in 1..=2 {
                now(subscription.set(value)).unwrap();
            }
            assert_eq!(drain(&mut early), [1, 2]);
            assert_eq!(poll_next(&mut early, &waker), Poll::Pending);
            // The full feed does not keep anybody from closing.
            let last = if with {
                assert_eq!(subscription.close_with(3).unwrap().number(), 3);
                3
            } else {
                subscription.close();
                2
            };
            subscription.close();
            assert!(subscription.is_closed() && rung.rings() >= 1);
            let rest = drain(&mut early);
            assert_eq!(rest, if with { vec![3] } else { vec![] });
            assert_eq!(drain(&mut full), (0..=last).collect::<Vec<_>>());
            let mut late = subscription.changes();
            assert_eq!(drain(&mut late), [last]);
            for feed in [&mut early, &mut full, &mut late] {
                assert_eq!(feed.try_next(), Err(NextError::Closed));
                assert_eq!(poll_next(feed, &waker), Poll::Ready(None));
                assert!(feed.is_terminated());
            }
            assert_eq!(now(subscription.set(9)), Err(SetError::Closed(9)));
            assert_eq!(subscription.try_set(9), Err(TrySetError::Closed(9)));
            assert_eq!(subscription.close_with(9), Err(Closed(9)));
            assert_eq!(
                now(subscription.update(|value| *value)),
                Err(SetError::Closed(()))
            );
            assert_eq!(subscription.get_cloned(), last);
        }
    }
}

// proves: S-7
#[test]
fn full_feed_that_drops_gets_the_last_value_at_the_end() {
    for (overflow, expected) in [
        (Overflow::DropNew, vec![0, 1, 4]),
        (Overflow::DropOldest, vec![0, 4]),
    ] {
        let subscription = Subscription::new(0, 1, overflow);
        let mut feed = subscription.changes();
        for value in 1..=4 {
            now(subscription.set(value)).unwrap();
        }
        subscription.close();
        assert_eq!(drain(&mut feed), expected);
        assert_eq!(feed.try_next(), Err(NextError::Closed));
    }
}

// proves: S-7
// proves: S-9
#[test]
fn closing_gives_waiting_changes_back() {
    let subscription = Subscription::new(0, 1, Overflow::Backpressure);
    let _laggard = subscription.changes();
    now(subscription.set(1)).unwrap();
    let (rung, waker) = bell();
    let mut cx = Context::from_waker(&waker);
    let mut set = Box::pin(subscription.set(2));
    let mut update = Box::pin(subscription.update(|value| value + 1));
    assert!(set.as_mut().poll(&mut cx).is_pending());
    assert!(update.as_mut().poll(&mut cx).is_pending());
    subscription.close();
    assert_eq!(rung.rings(), 2);
    assert_eq!(
        set.as_mut().poll(&mut cx),
        Poll::Ready(Err(SetError::Closed(2)))
    );
    assert_eq!(
        update.as_mut().poll(&mut cx),
        Poll::Ready(Err(SetError::Closed(())))
    );
}
