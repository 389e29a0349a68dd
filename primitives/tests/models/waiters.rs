//! Models of the list of waiters.

use crate::bell::wait;
use crate::models::explore;
use corelane_primitives::model;
use corelane_primitives::parts::{WaitList, Waiter};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use std::task::{Context, Poll, Waker};

/// Name and model, in the order in which mutants meet them.
pub(crate) const MODELS: &[(&str, fn())] = &[
    (
        "waiter_is_granted_or_sees_the_room",
        waiter_is_granted_or_sees_the_room,
    ),
    ("two_waiters_both_get_room", two_waiters_both_get_room),
    (
        "waiter_that_gives_up_passes_its_grant_on",
        waiter_that_gives_up_passes_its_grant_on,
    ),
    (
        "waiter_whose_room_was_taken_waits_again",
        waiter_whose_room_was_taken_waits_again,
    ),
    (
        "notifying_with_nobody_waiting_scans_nothing",
        notifying_with_nobody_waiting_scans_nothing,
    ),
];

/// A list, and units that are free.
struct Place {
    list: WaitList,
    free: AtomicUsize,
}

impl Place {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            list: WaitList::new(),
            free: AtomicUsize::new(0),
        })
    }

    fn count(&self) -> usize {
        self.free.load(Ordering::Relaxed)
    }

    /// Makes room, as a consumer does.
    fn make(&self, units: usize) {
        self.free.fetch_add(units, Ordering::Relaxed);
        self.list.notify(|| self.count());
    }

    /// Takes a unit if there is one, as any producer does.
    fn take(&self) -> bool {
        let free = self.count();
        let taken = self.free.compare_exchange(
            free,
            free.saturating_sub(1),
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        free > 0 && taken.is_ok()
    }

    /// Waits for one unit, takes it, and leaves; tells how often it was rung.
    fn wait(&self) -> usize {
        let mut waiter = Waiter::new();
        let ((), rings) = wait(|cx| {
            while waiter.poll(&self.list, 1, || self.count(), cx).is_ready() {
                if self.take() {
                    return Poll::Ready(());
                }
                waiter.retry(&self.list, || self.count());
            }
            Poll::Pending
        });
        waiter.leave(&self.list, || self.count());
        rings
    }
}

pub(crate) fn waiter_is_granted_or_sees_the_room() {
    explore(|| {
        let place = Place::new();
        let theirs = place.clone();
        thread::spawn(move || theirs.make(1));
        assert!(place.wait() <= 1);
        assert_eq!(place.count(), 0);
    });
}

pub(crate) fn two_waiters_both_get_room() {
    explore(|| {
        let place = Place::new();
        let making = place.clone();
        let other = place.clone();
        thread::spawn(move || {
            making.make(2);
        });
        // Nobody joins: loom takes a late ring for the end of the other thread. One that hangs
        // fails the model all the same.
        thread::spawn(move || other.wait());
        place.wait();
    });
}

/// The first one may have its grant when it gives up; the unit must reach the second.
pub(crate) fn waiter_that_gives_up_passes_its_grant_on() {
    explore(|| {
        let place = Place::new();
        let mut first = Waiter::new();
        let mut cx = Context::from_waker(Waker::noop());
        let polled = first.poll(&place.list, 1, || place.count(), &mut cx);
        assert!(polled.is_pending());
        let making = place.clone();
        thread::spawn(move || making.make(1));
        let theirs = place.clone();
        thread::spawn(move || first.leave(&theirs.list, || theirs.count()));
        place.wait();
    });
}

/// Somebody who does not wait takes the first unit whenever he can; the second reaches the waiter.
pub(crate) fn waiter_whose_room_was_taken_waits_again() {
    explore(|| {
        let place = Place::new();
        let making = place.clone();
        thread::spawn(move || {
            making.make(1);
            if making.take() {
                making.make(1);
            }
        });
        place.wait();
    });
}

/// A call that finds nobody costs one fence and one load, in every interleaving.
pub(crate) fn notifying_with_nobody_waiting_scans_nothing() {
    explore(|| {
        let place = Place::new();
        let theirs = place.clone();
        thread::spawn(move || {
            let before = model::steps();
            let mut counted = false;
            theirs.list.notify(|| {
                counted = true;
                0
            });
            if !counted {
                assert_eq!(model::steps() - before, 2);
            }
        });
        let mut waiter = Waiter::new();
        let mut cx = Context::from_waker(Waker::noop());
        let polled = waiter.poll(&place.list, 1, || 0, &mut cx);
        assert!(polled.is_pending());
        waiter.leave(&place.list, || 0);
        assert!(place.list.is_idle());
    });
}
