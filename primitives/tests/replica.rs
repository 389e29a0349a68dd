//! What a replica answers, of whichever source it is, and what it keeps.
#![cfg(not(corelane_loom))]
#![allow(clippy::unwrap_used)]

use corelane_primitives::{Overflow, PlainSignal, Replica, Signal, Subscription};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use thread_aware::ThreadAware;
use thread_aware::affinity::pinned_affinities;

fn subscription(value: u64) -> Subscription<u64> {
    Subscription::new(value, 8, Overflow::Backpressure)
}

/// The facts, for sources made by `$make`, which `$set` sets.
macro_rules! facts {
    ($way:ident, $make:path, $set:ident) => {
        mod $way {
            use super::*;

            // proves: S-5
            #[test]
            fn replica_sees_each_set_at_once_and_what_it_gave_stays() {
                let source = $make(0);
                let mut replica = source.replica();
                let mut given = Vec::new();
                for value in 0..100 {
                    assert_eq!(**replica.look(), value);
                    let (version, lent) = replica.look_versioned();
                    assert_eq!((version.number(), **lent), (value, value));
                    given.push(replica.get());
                    assert!(Arc::ptr_eq(&given[value as usize], replica.look()));
                    source.$set(value + 1).unwrap();
                    assert_eq!(replica.version().number(), value + 1);
                }
                assert!((0..).zip(&given).all(|(value, given)| value == **given));
            }

            #[test]
            fn replica_that_looks_seldom_skips() {
                let source = $make(0);
                let mut replica = source.replica();
                assert_eq!(*replica.get(), 0);
                for value in 1..=1_000 {
                    source.$set(value).unwrap();
                }
                assert_eq!(*replica.get(), 1_000);
                assert_eq!(replica.version(), source.version());
            }

            // proves: S-7
            #[test]
            fn replica_sees_the_end_and_does_not_keep_it_away() {
                let source = $make(1);
                let weak = source.downgrade();
                let mut replica = source.replica();
                assert!(!replica.is_closed());
                drop(source);
                assert!(weak.upgrade().is_none());
                assert!(replica.is_closed());
                assert_eq!((*replica.get(), replica.version().number()), (1, 0));

                let source = $make(1);
                let mut replica = source.replica();
                assert_eq!(*replica.get(), 1);
                source.close_with(2).unwrap();
                assert!(source.$set(3).is_err());
                assert_eq!((**replica.look(), replica.is_closed()), (2, true));
            }

            #[test]
            fn clone_and_moved_replica_go_on_by_themselves() {
                let source = $make(0);
                let mut replica = source.replica();
                assert_eq!(**replica.look(), 0);
                let mut clone = replica.clone();
                let [here, there] = pinned_affinities(&[2])[..] else {
                    panic!("there are two");
                };
                clone.relocate(Some(here), there);
                source.$set(1).unwrap();
                let theirs = thread::spawn(move || clone.get()).join().unwrap();
                assert_eq!((*theirs, **replica.look()), (1, 1));
            }

            // proves: S-5
            // proves: S-6
            #[test]
            fn acknowledged_sets_are_seen_on_other_threads() {
                const SETS: u64 = 20_000;
                let source = $make(0);
                let acknowledged = AtomicU64::new(0);
                thread::scope(|scope| {
                    for _ in 0..2 {
                        scope.spawn(|| {
                            let mut replica = source.replica();
                            let mut seen = 0;
                            while seen < SETS {
                                let least = acknowledged.load(Ordering::Acquire).max(seen);
                                let (version, value) = replica.look_versioned();
                                assert_eq!(version.number(), **value);
                                assert!(**value >= least, "{value} after {least}");
                                seen = **value;
                            }
                        });
                    }
                    for value in 1..=SETS {
                        let version = source.$set(value).unwrap();
                        acknowledged.store(version.number(), Ordering::Release);
                    }
                });
            }
        }
    };
}

facts!(shared, Signal::new, set);
facts!(plain, Signal::plain, set);
facts!(subscription_state, subscription, try_set);

/// Who reads on one core writes to no line that who reads on another does.
#[test]
fn plain_replicas_count_apart() {
    let signal = Signal::plain(7_u64);
    let mut first = signal.replica();
    let kept = first.get();
    let mut second = first.clone();
    assert!(!Arc::ptr_eq(&kept, second.look()));
    assert_eq!(
        (Arc::strong_count(&kept), Arc::strong_count(second.look())),
        (2, 1)
    );
    assert!(Arc::ptr_eq(&kept, first.look()), "nothing was set");

    let [here, there] = pinned_affinities(&[2])[..] else {
        panic!("there are two");
    };
    first.relocate(Some(here), there);
    assert_eq!(Arc::strong_count(&kept), 1, "a move lets the copy go");
    assert_eq!((*first.get(), *kept), (7, 7));
}

#[test]
fn other_replicas_share_the_value() {
    let signal = Signal::new(vec![1, 2, 3]);
    let mut replica = signal.replica();
    let mut clone = replica.clone();
    let kept = signal.get();
    assert!(Arc::ptr_eq(&kept, replica.look()) && Arc::ptr_eq(&kept, clone.look()));
    assert_eq!(Arc::strong_count(&kept), 2, "a look counts nothing");
}

/// A replica keeps what it has seen last, and nothing else.
#[test]
fn replica_keeps_one_value_until_it_looks_again() {
    let values = [1, 2, 3].map(Arc::new);
    let signal = Signal::new(values[0].clone());
    let mut replica = signal.replica();
    assert_eq!(***replica.look(), 1);
    signal.set(values[1].clone()).unwrap();
    signal.set(values[2].clone()).unwrap();
    let counts = || values.each_ref().map(Arc::strong_count);
    assert_eq!(counts(), [2, 1, 2]);
    assert_eq!(***replica.look(), 3);
    assert_eq!(counts(), [1, 1, 2]);
    drop(signal);
    assert_eq!(counts(), [1, 1, 2], "the last value outlives the signal");
    drop(replica);
    assert_eq!(counts(), [1, 1, 1]);
}

/// A value whose drop panics.
struct Sore(u64, bool);

impl Drop for Sore {
    fn drop(&mut self) {
        assert!(!self.1, "a sore value");
    }
}

#[test]
fn panicking_drop_of_what_is_let_go_leaves_a_whole_replica() {
    let signal = Signal::new(Sore(0, true));
    let mut replica = signal.replica();
    assert_eq!(replica.look().0, 0);
    signal.set(Sore(1, false)).unwrap();
    let looking = std::panic::AssertUnwindSafe(|| replica.look().0);
    assert!(std::panic::catch_unwind(looking).is_err());
    assert_eq!((replica.look().0, replica.version().number()), (1, 1));
}

#[test]
fn replicas_may_be_sent_and_shared() {
    fn check<T: Send + Sync + ThreadAware>() {}
    check::<Replica<Signal<String>>>();
    check::<Replica<PlainSignal<u64>>>();
    check::<Replica<Subscription<String>>>();
}
