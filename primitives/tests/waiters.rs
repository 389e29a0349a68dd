//! Who waits for room is served in order, exactly what it needs, and hangs nobody.
#![cfg(not(corelane_loom))]

use corelane_primitives::parts::{WaitList, Waiter};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

/// Counts wakes.
#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Calls a function when woken.
struct Act<F>(F);

impl<F: Fn() + Send + Sync + 'static> Wake for Act<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}

/// Some waiters of one list, each with its bell.
struct Crowd {
    list: WaitList,
    free: Cell<usize>,
    waiters: Vec<(Waiter, usize, Arc<Bell>)>,
}

impl Crowd {
    /// Everybody polls once, in order, while there is no room.
    fn waiting_for(needs: &[usize]) -> Self {
        let mut crowd = Self {
            list: WaitList::new(),
            free: Cell::new(0),
            waiters: Vec::new(),
        };
        for (index, need) in needs.iter().enumerate() {
            crowd
                .waiters
                .push((Waiter::new(), *need, Arc::new(Bell::default())));
            assert!(!crowd.poll(index));
        }
        crowd
    }

    fn poll(&mut self, index: usize) -> bool {
        let (waiter, need, bell) = &mut self.waiters[index];
        let waker = Waker::from(bell.clone());
        let mut cx = Context::from_waker(&waker);
        let free = &self.free;
        waiter
            .poll(&self.list, *need, || free.get(), &mut cx)
            .is_ready()
    }

    /// Takes what waiter `index` was granted.
    fn take(&mut self, index: usize) {
        assert!(self.poll(index));
        self.free.set(self.free.get() - self.waiters[index].1);
        self.leave(index);
    }

    fn leave(&mut self, index: usize) {
        self.waiters[index].0.leave(&self.list, || self.free.get());
    }

    fn make(&self, units: usize) -> usize {
        self.free.set(self.free.get() + units);
        self.list.notify(|| self.free.get())
    }

    fn rings(&self) -> Vec<usize> {
        let bells = self.waiters.iter().map(|(_, _, bell)| bell);
        bells.map(|bell| bell.0.load(Ordering::Relaxed)).collect()
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        for index in 0..self.waiters.len() {
            self.leave(index);
        }
        assert!(self.list.is_idle() || std::thread::panicking());
    }
}

#[test]
fn waiters_are_served_in_order_and_rung_once_a_grant() {
    let mut crowd = Crowd::waiting_for(&[1, 1, 1]);
    assert_eq!(crowd.make(1), 1);
    assert_eq!(crowd.rings(), [1, 0, 0]);
    assert_eq!(crowd.make(0), 0, "what is granted is not granted again");
    assert_eq!(crowd.make(1), 1);
    assert_eq!(crowd.rings(), [1, 1, 0]);
    assert!(!crowd.poll(2));
    crowd.take(1);
    crowd.take(0);
    assert_eq!(crowd.rings(), [1, 1, 0]);
    assert_eq!(crowd.make(5), 1);
    assert_eq!(crowd.rings(), [1, 1, 1]);
}

#[test]
fn grants_never_exceed_the_need_and_nobody_is_overtaken() {
    let mut crowd = Crowd::waiting_for(&[3, 1, 2]);
    assert_eq!(crowd.make(2), 0, "the first one needs three");
    assert_eq!(crowd.make(2), 2);
    assert_eq!(crowd.rings(), [1, 1, 0]);
    crowd.take(0);
    assert_eq!(crowd.make(1), 0);
    assert_eq!(crowd.make(1), 1);
    crowd.take(1);
    crowd.take(2);
    assert_eq!(crowd.free.get(), 0);
}

#[test]
fn waiter_that_leaves_passes_its_grant_on() {
    let mut crowd = Crowd::waiting_for(&[1, 1, 1]);
    crowd.leave(1);
    assert_eq!(crowd.make(1), 1);
    crowd.leave(0);
    assert_eq!(crowd.rings(), [1, 0, 1]);
    crowd.take(2);
}

#[test]
fn waiter_whose_room_was_taken_keeps_its_place() {
    let mut crowd = Crowd::waiting_for(&[1, 1]);
    assert_eq!(crowd.make(1), 1);
    assert!(crowd.poll(0));
    // Somebody who did not wait.
    crowd.free.set(0);
    crowd.waiters[0].0.retry(&crowd.list, || 0);
    assert!(!crowd.poll(0));
    assert_eq!(crowd.make(1), 1);
    assert_eq!(crowd.rings(), [2, 0]);
    crowd.take(0);
}

#[test]
fn waiter_that_meets_free_room_is_granted_at_once() {
    let mut crowd = Crowd::waiting_for(&[]);
    crowd.free.set(2);
    for _ in 0..2 {
        crowd
            .waiters
            .push((Waiter::new(), 1, Arc::new(Bell::default())));
    }
    assert!(crowd.poll(1));
    assert!(crowd.poll(0));
    crowd.take(0);
    crowd.take(1);
    assert_eq!(crowd.rings(), [0, 0], "nobody slept");
}

// proves: W-4
#[test]
fn wakers_run_outside_the_lock() {
    let list = Arc::new(WaitList::new());
    let place = Arc::new(Mutex::new(Waiter::new()));
    let (inner, there) = (list.clone(), place.clone());
    let waker = Waker::from(Arc::new(Act(move || {
        // Uses the list in every way there is; while it is granted, notifying would ring again.
        let mut waiter = there.lock().expect("no call panics in here");
        waiter.retry(&inner, || 0);
        assert_eq!(inner.notify(|| 0), 0);
        waiter.leave(&inner, || 1);
    })));
    {
        let mut waiter = place.lock().expect("no call panics in here");
        let mut cx = Context::from_waker(&waker);
        assert_eq!(waiter.poll(&list, 1, || 0, &mut cx), Poll::Pending);
    }
    assert_eq!(list.notify(|| 1), 1);
    assert!(list.is_idle());
}

// proves: W-4
#[test]
fn waker_that_panics_keeps_nobody_from_being_woken() {
    let list = WaitList::new();
    let panicking = Waker::from(Arc::new(Act(|| panic!("as planned"))));
    let bell = Arc::new(Bell::default());
    let counting = Waker::from(bell.clone());
    let mut waiters = [Waiter::new(), Waiter::new()];
    for (waiter, waker) in waiters.iter_mut().zip([&panicking, &counting]) {
        let mut cx = Context::from_waker(waker);
        assert_eq!(waiter.poll(&list, 1, || 0, &mut cx), Poll::Pending);
    }
    let notified = catch_unwind(AssertUnwindSafe(|| list.notify(|| 2)));
    assert!(notified.is_err());
    assert_eq!(bell.0.load(Ordering::Relaxed), 1);
    for waiter in &mut waiters {
        // The broken one finds its grant by itself.
        let mut cx = Context::from_waker(Waker::noop());
        assert_eq!(waiter.poll(&list, 1, || 0, &mut cx), Poll::Ready(()));
        waiter.leave(&list, || 0);
    }
    assert!(list.is_idle());
}

/// One thread stands still inside a wake; the other one rings for it.
// proves: W-1
#[test]
fn thread_stopped_while_it_wakes_hangs_nobody() {
    let list = Arc::new(WaitList::new());
    let bell = Arc::new(Bell::default());
    let waker = {
        let (list, bell) = (list.clone(), bell.clone());
        Waker::from(Arc::new(Act(move || {
            // The first ringer is held here until the second has rung too.
            if bell.0.fetch_add(1, Ordering::Relaxed) == 0 {
                let list = list.clone();
                let second = std::thread::spawn(move || list.notify(|| 1));
                assert!(second.join().is_ok());
            }
        })))
    };
    let mut waiter = Waiter::new();
    let mut cx = Context::from_waker(&waker);
    assert_eq!(waiter.poll(&list, 1, || 0, &mut cx), Poll::Pending);
    list.notify(|| 1);
    assert_eq!(bell.0.load(Ordering::Relaxed), 2);
    assert_eq!(waiter.poll(&list, 1, || 0, &mut cx), Poll::Ready(()));
    waiter.leave(&list, || 0);
}

#[test]
fn wakers_go_with_their_waiters() {
    let bell = Arc::new(Bell::default());
    let list = WaitList::new();
    for granted in [0, 1] {
        let waker = Waker::from(bell.clone());
        let mut waiter = Waiter::new();
        let mut cx = Context::from_waker(&waker);
        assert_eq!(waiter.poll(&list, 1, || 0, &mut cx), Poll::Pending);
        assert_eq!(list.notify(|| granted), granted);
        waiter.leave(&list, || 0);
        drop(waker);
        assert_eq!(Arc::strong_count(&bell), 1);
    }
}

/// Neither the room is counted nor the list looked at.
// proves: W-2
#[test]
fn notice_to_nobody_counts_nothing() {
    let list = WaitList::new();
    let counts = Cell::new(0);
    let free = || {
        counts.set(counts.get() + 1);
        1
    };
    assert_eq!((list.notify(free), list.notify_after_fence(free)), (0, 0));
    let mut waiter = Waiter::new();
    let mut cx = Context::from_waker(Waker::noop());
    assert!(waiter.poll(&list, 1, || 0, &mut cx).is_pending());
    waiter.leave(&list, || 0);
    assert_eq!((list.notify(free), list.notify_after_fence(free)), (0, 0));
    assert_eq!(counts.get(), 0);
}
