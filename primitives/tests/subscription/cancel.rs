//! Futures that are dropped, in each state that they have.

use crate::{POLICIES, bell, drain, now, poll_next};
use corelane_primitives::{Overflow, Subscription};
use std::task::{Context, Poll, Waker};

/// Drops each of three waiting changes in each state: before its first poll, while it waits, once
/// it has its right of way. Those that stay are served in their order.
// proves: S-9
// proves: S-11
#[test]
fn dropped_changes_leave_nothing_behind() {
    for gives_up in 0..3 {
        for state in 0..3 {
            let subscription = Subscription::new(0, 1, Overflow::Backpressure);
            let mut feed = subscription.changes();
            now(subscription.set(1)).unwrap();
            let (_rung, waker) = bell();
            let mut cx = Context::from_waker(&waker);
            let mut sets: Vec<_> = (0..3)
                .map(|place| Some(Box::pin(subscription.set(10 + place))))
                .collect();
            if state == 0 {
                sets[gives_up] = None;
            }
            for set in sets.iter_mut().flatten() {
                assert!(set.as_mut().poll(&mut cx).is_pending());
            }
            if state == 1 {
                sets[gives_up] = None;
            }
            assert_eq!(drain(&mut feed), [0, 1]);
            if state == 2 {
                sets[gives_up] = None;
            }
            let mut taken = Vec::new();
            // Each turn serves one at least.
            for _ in 0..3 {
                for set in &mut sets {
                    if set
                        .as_mut()
                        .is_some_and(|set| set.as_mut().poll(&mut cx).is_ready())
                    {
                        *set = None;
                    }
                }
                taken.extend(drain(&mut feed));
            }
            let kept = (0..3).filter(|place| *place != gives_up as u64);
            assert_eq!(taken, kept.map(|place| 10 + place).collect::<Vec<_>>());
            assert_eq!(subscription.version().number(), 3);
            assert!(
                subscription.try_set(99).is_ok(),
                "nobody is left on the list"
            );
        }
    }
}

/// Drops a waiting feed's future in each state, for each policy; the other feed learns.
// proves: S-11
#[test]
fn dropped_waits_hand_their_duty_on() {
    for overflow in POLICIES {
        for before in [true, false] {
            let subscription = Subscription::new(0, 2, overflow);
            let mut first = subscription.changes();
            let mut second = subscription.changes();
            assert_eq!((first.try_next(), second.try_next()), (Ok(0), Ok(0)));
            let (rung, waker) = bell();
            let mut wait = Box::pin(first.next());
            let mut cx = Context::from_waker(Waker::noop());
            assert!(wait.as_mut().poll(&mut cx).is_pending());
            assert_eq!(poll_next(&mut second, &waker), Poll::Pending);
            if before {
                drop(wait);
                now(subscription.set(1)).unwrap();
            } else {
                now(subscription.set(1)).unwrap();
                drop(wait);
            }
            assert!(rung.rings() >= 1, "{overflow:?}");
            assert_eq!(poll_next(&mut second, &waker), Poll::Ready(Some(Ok(1))));
            assert_eq!(first.try_next(), Ok(1), "a dropped wait loses nothing");
        }
    }
}
