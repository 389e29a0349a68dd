//! Models of sleep and wake.

use crate::alarm::Alarm;
use crate::models::explore;
use corelane_primitives::{Parker, SleepWord, model};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use std::task::Waker;

/// Name and model, in the order in which mutants meet them.
pub(crate) const MODELS: &[(&str, fn())] = &[
    (
        "sleeper_is_rung_or_sees_the_message",
        sleeper_is_rung_or_sees_the_message,
    ),
    (
        "parked_task_is_woken_or_sees_the_message",
        parked_task_is_woken_or_sees_the_message,
    ),
    ("stopped_waker_hangs_nobody", stopped_waker_hangs_nobody),
    (
        "two_wakers_ring_once_or_twice",
        two_wakers_ring_once_or_twice,
    ),
    ("new_waker_takes_over", new_waker_takes_over),
    (
        "parking_anew_races_with_a_late_mark",
        parking_anew_races_with_a_late_mark,
    ),
    (
        "waking_an_awake_owner_scans_nothing",
        waking_an_awake_owner_scans_nothing,
    ),
];

/// Blocks the owner until `messages` reaches `count`, as a task does.
fn park_until(parker: &Parker, messages: &AtomicUsize, count: usize) -> usize {
    let alarm = Alarm::new();
    let waker = Waker::from(alarm.clone());
    while messages.load(Ordering::Relaxed) < count {
        parker.park(&waker);
        if messages.load(Ordering::Relaxed) >= count {
            break;
        }
        thread::park();
    }
    parker.unpark();
    alarm.rings()
}

pub(crate) fn sleeper_is_rung_or_sees_the_message() {
    explore(|| {
        let shared = Arc::new((SleepWord::new(), AtomicUsize::new(0)));
        let owner = thread::current();
        let theirs = shared.clone();
        thread::spawn(move || {
            let (word, message) = &*theirs;
            message.store(1, Ordering::Relaxed);
            if let Some(epoch) = word.sleeper() {
                owner.unpark();
                word.mark_rung(epoch);
            }
        });
        let (word, message) = &*shared;
        word.prepare();
        if message.load(Ordering::Relaxed) == 0 {
            thread::park();
        }
        word.awake();
        assert!(word.is_awake());
    });
}

pub(crate) fn parked_task_is_woken_or_sees_the_message() {
    explore(|| {
        let shared = Arc::new((Parker::new(), AtomicUsize::new(0)));
        let theirs = shared.clone();
        thread::spawn(move || {
            theirs.1.store(1, Ordering::Relaxed);
            theirs.0.wake();
        });
        assert!(park_until(&shared.0, &shared.1, 1) <= 1);
    });
}

/// One thread has a message, finds the sleeper, and never goes on. The other must not rely on it.
pub(crate) fn stopped_waker_hangs_nobody() {
    explore(|| {
        let shared = Arc::new((SleepWord::new(), AtomicUsize::new(0)));
        let owner = thread::current();
        let stopped = shared.clone();
        thread::spawn(move || {
            stopped.1.fetch_add(1, Ordering::Relaxed);
            let _seen_and_never_rung = stopped.0.sleeper();
        });
        let theirs = shared.clone();
        thread::spawn(move || {
            theirs.1.fetch_add(1, Ordering::Relaxed);
            if let Some(epoch) = theirs.0.sleeper() {
                owner.unpark();
                theirs.0.mark_rung(epoch);
            }
        });
        let (word, messages) = &*shared;
        word.prepare();
        // The stopped thread's message alone may leave the owner asleep; the other's may not.
        if messages.load(Ordering::Relaxed) == 0 {
            thread::park();
        }
        word.awake();
    });
}

pub(crate) fn two_wakers_ring_once_or_twice() {
    explore(|| {
        let shared = Arc::new((Parker::new(), AtomicUsize::new(0)));
        for _ in 0..2 {
            let theirs = shared.clone();
            thread::spawn(move || {
                theirs.1.fetch_add(1, Ordering::Relaxed);
                theirs.0.wake();
            });
        }
        let rings = park_until(&shared.0, &shared.1, 2);
        assert!(rings <= 2, "{rings} rings for two messages");
    });
}

/// The owner parks under one waker, takes it back, and parks under another: only that one can end
/// it.
pub(crate) fn new_waker_takes_over() {
    explore(|| {
        let shared = Arc::new((Parker::new(), AtomicUsize::new(0)));
        let theirs = shared.clone();
        thread::spawn(move || {
            theirs.1.store(1, Ordering::Relaxed);
            theirs.0.wake();
        });
        shared.0.park(Waker::noop());
        shared.0.unpark();
        park_until(&shared.0, &shared.1, 1);
    });
}

/// The mark for an epoch may come when the owner already sleeps in the next one.
pub(crate) fn parking_anew_races_with_a_late_mark() {
    explore(|| {
        let shared = Arc::new((Parker::new(), AtomicUsize::new(0)));
        let theirs = shared.clone();
        thread::spawn(move || {
            for _ in 0..2 {
                theirs.1.fetch_add(1, Ordering::Relaxed);
                theirs.0.wake();
            }
        });
        park_until(&shared.0, &shared.1, 1);
        park_until(&shared.0, &shared.1, 2);
    });
}

/// A wake that finds nobody costs one fence and one load, in every interleaving.
pub(crate) fn waking_an_awake_owner_scans_nothing() {
    explore(|| {
        let parker = Arc::new(Parker::new());
        let theirs = parker.clone();
        thread::spawn(move || {
            let before = model::steps();
            if !theirs.wake() {
                assert_eq!(model::steps() - before, 2);
            }
        });
        parker.park(Waker::noop());
        parker.unpark();
    });
}
