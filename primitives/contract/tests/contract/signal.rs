//! The contract of the signal, shared and plain.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use corelane_primitives::{Closed, NextError, PlainSignal, Signal};

use crate::futures::{count_polls, flag_waiting, give_up_after, give_way, until, until_raised};
use crate::hosts::{Host, PLACES};
use crate::random::Random;
use crate::tasks::{Task, all};

on_every_host! {
    // proves: S-2
    // proves: S-7
    // proves: S-11
    #[test]
    fn shared::feeds_go_monotonously_to_the_last_value;
    // proves: S-3
    #[test]
    fn shared::a_feed_skips_to_the_latest;
    // proves: S-5
    // proves: S-6
    #[test]
    fn shared::acknowledged_sets_are_seen_everywhere;
    // proves: W-1
    #[test]
    fn shared::parked_feeds_are_woken_from_other_places;
    // proves: S-7
    #[test]
    fn shared::a_close_delivers_the_last_value_and_the_end;
    // proves: S-11
    #[test]
    fn shared::feeds_that_give_up_leave_nobody_asleep;
    // proves: W-3
    #[test]
    fn shared::idle_feeds_cause_no_polls;
}

/// The same for plain signals, in a module of its own: each fact is a test of each.
mod of_plain {
    on_every_host! {
        #[test]
        fn plain::feeds_go_monotonously_to_the_last_value;
        #[test]
        fn plain::a_feed_skips_to_the_latest;
        #[test]
        fn plain::acknowledged_sets_are_seen_everywhere;
        #[test]
        fn plain::parked_feeds_are_woken_from_other_places;
        #[test]
        fn plain::a_close_delivers_the_last_value_and_the_end;
        #[test]
        fn plain::feeds_that_give_up_leave_nobody_asleep;
        #[test]
        fn plain::idle_feeds_cause_no_polls;
    }
    use super::plain;
}

/// Feeds of one place.
const FEEDS: u64 = 4;

/// A poll that finds nothing and one that finds a value; a third comes of a waker that was under
/// way when an earlier poll found its value by itself.
const POLLS_MAX: u64 = 3;

/// Values of a feed of a signal that counts up: news each, from a first one not older than `from`.
struct Rising(Option<u64>);

impl Rising {
    fn from(from: u64) -> Self {
        Self(from.checked_sub(1))
    }

    fn see(&mut self, value: u64) {
        assert!(self.0.is_none_or(|last| value > last), "no news: {value}");
        self.0 = Some(value);
    }
}

/// The facts for one way to keep the value: `$make` makes a signal of type `$signal`.
macro_rules! facts_of {
    ($way:ident, $signal:ty, $make:path) => {
        pub(crate) mod $way {
            use super::*;

            /// Yields news until the end; the last value.
            async fn follow(signal: $signal) -> Option<u64> {
                let mut rising = Rising::from(signal.get_cloned());
                let mut feed = signal.changes();
                drop(signal);
                while let Some(value) = feed.next().await {
                    rising.see(value);
                }
                rising.0
            }

            pub(crate) fn feeds_go_monotonously_to_the_last_value<H: Host>(host: &H) {
                let count = host.count(2_000);
                let signal = $make(0);
                let at_work = Arc::new(AtomicU64::new(PLACES as u64));
                let work = |_| {
                    let (signal, at_work) = (signal.clone(), Arc::clone(&at_work));
                    move || async move {
                        let mut tasks: Vec<Task<Option<u64>>> = Vec::new();
                        for _ in 0..FEEDS {
                            tasks.push(Box::pin(follow(signal.clone())));
                        }
                        tasks.push(Box::pin(async move {
                            for _ in 0..count {
                                signal.update(|value| value + 1).unwrap();
                                give_way().await;
                            }
                            if at_work.fetch_sub(1, Ordering::AcqRel) == 1 {
                                signal.close();
                            }
                            None
                        }));
                        all(tasks).await
                    }
                };
                for lasts in host.each((0..PLACES).map(work).collect()) {
                    let (_, lasts) = lasts.split_last().unwrap();
                    assert_eq!(lasts, [Some(PLACES as u64 * count); FEEDS as usize]);
                }
            }

            pub(crate) fn a_feed_skips_to_the_latest<H: Host>(host: &H) {
                for _ in 0..host.count(200) {
                    let signal = $make(0);
                    let flags: [Arc<AtomicBool>; 2] = Default::default();
                    let [seen, set] = flags.clone();
                    let theirs = signal.clone();
                    let left = move || async move {
                        let mut feed = theirs.changes();
                        assert_eq!(feed.next().await, Some(0));
                        seen.store(true, Ordering::Release);
                        until_raised(&set).await;
                        assert_eq!(feed.next().await, Some(2));
                        assert_eq!(feed.try_next(), Err(NextError::Empty));
                    };
                    let [seen, set] = flags;
                    let right = move || async move {
                        until_raised(&seen).await;
                        signal.set(1).unwrap();
                        signal.set(2).unwrap();
                        set.store(true, Ordering::Release);
                    };
                    host.pair(left, right);
                }
            }

            /// What a read and a feed of another place find once a set is acknowledged.
            pub(crate) fn acknowledged_sets_are_seen_everywhere<H: Host>(host: &H) {
                let count = host.count(5_000);
                let signal = $make(0);
                let acknowledged = Arc::new(AtomicU64::new(0));
                let (theirs, seen) = (signal.clone(), Arc::clone(&acknowledged));
                let left = move || async move {
                    for value in 1..=count {
                        let version = signal.set(value).unwrap();
                        assert_eq!(version.number(), value);
                        acknowledged.store(value, Ordering::Release);
                        give_way().await;
                    }
                };
                let right = move || async move {
                    let mut feed = theirs.changes();
                    let mut delivered = 0;
                    while delivered < count {
                        let acknowledged = seen.load(Ordering::Acquire);
                        assert!(theirs.get_cloned() >= acknowledged);
                        assert!(theirs.read(|value| *value) >= acknowledged);
                        match feed.try_next() {
                            Ok(value) => delivered = value,
                            Err(error) => assert_eq!(error, NextError::Empty),
                        }
                        assert!(delivered >= acknowledged);
                        std::thread::yield_now();
                        give_way().await;
                    }
                };
                host.pair(left, right);
            }

            /// Each place waits for what the other sets because of it: one lost wake ends it all.
            pub(crate) fn parked_feeds_are_woken_from_other_places<H: Host>(host: &H) {
                let count = host.count(5_000);
                let (to_right, to_left) = ($make(0), $make(0));
                let place = move |own: $signal, other: $signal, is_first: bool| async move {
                    let mut feed = other.changes();
                    drop(other);
                    for value in 1..=count {
                        if is_first {
                            own.set(value).unwrap();
                        }
                        // The first one may be 0 or 1, by who was here first.
                        while feed.next().await.unwrap() < value {}
                        if !is_first {
                            own.set(value).unwrap();
                        }
                    }
                };
                let theirs = (to_left.clone(), to_right.clone());
                let left = move || place(to_right, to_left, true);
                let right = move || place(theirs.0, theirs.1, false);
                host.pair(left, right);
            }

            pub(crate) fn a_close_delivers_the_last_value_and_the_end<H: Host>(host: &H) {
                for _ in 0..host.count(200) {
                    let signal = $make(0);
                    let waits = Arc::new(AtomicBool::new(false));
                    let (theirs, waiting) = (signal.clone(), Arc::clone(&waits));
                    let left = move || async move {
                        let mut feed = theirs.changes();
                        assert_eq!(feed.next().await, Some(0));
                        assert_eq!(flag_waiting(&waiting, feed.next()).await, Some(7));
                        assert_eq!(feed.next().await, None);
                    };
                    let right = move || async move {
                        until_raised(&waits).await;
                        assert_eq!(signal.close_with(7).unwrap().number(), 1);
                        let mut late = signal.changes();
                        assert_eq!(late.next().await, Some(7));
                        assert_eq!(late.next().await, None);
                        assert_eq!(signal.set(8), Err(Closed(8)));
                        assert_eq!(signal.get_cloned(), 7);
                    };
                    host.pair(left, right);
                }
            }

            /// Yields news until the end, gives many waits up, and some feeds.
            async fn follow_giving_up(signal: $signal, seed: u64) -> Option<u64> {
                let mut random = Random::new(seed);
                let mut rising = Rising::from(0);
                let mut feed = signal.changes();
                // Open as long as somebody sets.
                let weak = signal.downgrade();
                drop(signal);
                loop {
                    match give_up_after(random.below(4), feed.next()).await {
                        Some(Some(value)) => rising.see(value),
                        Some(None) => return rising.0,
                        None => give_way().await,
                    }
                    if random.below(8) == 0
                        && let Some(signal) = weak.upgrade()
                    {
                        rising = Rising::from(signal.get_cloned());
                        feed = signal.changes();
                    }
                }
            }

            pub(crate) fn feeds_that_give_up_leave_nobody_asleep<H: Host>(host: &H) {
                let count = host.count(1_000);
                let signal = $make(0);
                let theirs = signal.clone();
                let left = move || async move {
                    let mut tasks: Vec<Task<Option<u64>>> = Vec::new();
                    for seed in 0..FEEDS {
                        tasks.push(Box::pin(follow(theirs.clone())));
                        tasks.push(Box::pin(follow_giving_up(theirs.clone(), seed)));
                    }
                    drop(theirs);
                    all(tasks).await
                };
                let right = move || async move {
                    for value in 1..=count {
                        signal.set(value).unwrap();
                        for _ in 0..value % 4 {
                            give_way().await;
                        }
                    }
                    // Its last handle goes, and closes it.
                };
                let (lasts, ()) = host.pair(left, right);
                assert_eq!(lasts, [Some(count); 2 * FEEDS as usize]);
            }

            pub(crate) fn idle_feeds_cause_no_polls<H: Host>(host: &H) {
                const CROWD: u64 = 50;
                let count = host.count(200);
                let signal = $make(0);
                let seen = Arc::new(AtomicU64::new(0));
                let (theirs, seeing) = (signal.clone(), Arc::clone(&seen));
                let left = move || async move {
                    let task = |_| -> Task<()> {
                        let (mut feed, seen) = (theirs.changes(), Arc::clone(&seeing));
                        Box::pin(async move {
                            for expected in 0..=count {
                                let (value, polls) = count_polls(feed.next()).await;
                                assert_eq!(value, Some(expected));
                                assert!(polls <= POLLS_MAX, "{polls} polls for {expected}");
                                seen.fetch_add(1, Ordering::Release);
                            }
                        })
                    };
                    all((0..CROWD).map(task).collect()).await;
                };
                let right = move || async move {
                    for value in 0..count {
                        until(|| seen.load(Ordering::Acquire) == CROWD * (value + 1)).await;
                        signal.set(value + 1).unwrap();
                    }
                };
                host.pair(left, right);
            }
        }
    };
}

facts_of!(shared, Signal<u64>, Signal::new);
facts_of!(plain, PlainSignal<u64>, Signal::plain);
