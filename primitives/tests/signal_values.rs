//! What one thread sees of a signal, whichever way it keeps its value.
#![cfg(not(corelane_loom))]
#![allow(clippy::unwrap_used)]

use corelane_primitives::{Closed, NextError, Signal};
use futures_core::{FusedStream, Stream};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn bell() -> (Arc<Bell>, Waker) {
    let bell = Arc::new(Bell::default());
    (bell.clone(), Waker::from(bell))
}

impl Bell {
    fn rings(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

fn poll_next<S: Stream + Unpin>(feed: &mut S, waker: &Waker) -> Poll<Option<S::Item>> {
    Pin::new(feed).poll_next(&mut Context::from_waker(waker))
}

/// The facts, for signals made by `$make`.
macro_rules! facts {
    ($way:ident, $make:path) => {
        mod $way {
            use super::*;

            // proves: S-3
            #[test]
            fn feed_starts_with_the_current_value_and_skips_to_the_latest() {
                let signal = $make(0_u64);
                let mut feed = signal.changes();
                assert_eq!(feed.try_next(), Ok(0));
                assert_eq!(feed.try_next(), Err(NextError::Empty));
                signal.set(1).unwrap();
                signal.set(2).unwrap();
                assert_eq!((feed.lag(), feed.stats().dropped), (1, 1));
                assert_eq!(feed.try_next(), Ok(2));
                assert_eq!(feed.try_next(), Err(NextError::Empty));
                assert_eq!(signal.changes().try_next(), Ok(2));
                let stats = feed.stats();
                assert_eq!((stats.delivered, stats.dropped, stats.lag), (2, 1, 0));
            }

            // proves: S-5
            #[test]
            fn snapshot_keeps_its_value() {
                let signal = $make([1_u32, 2, 3]);
                let before = signal.get();
                let version = signal.set([4, 5, 6]).unwrap();
                assert_eq!((*before, *signal.get()), ([1, 2, 3], [4, 5, 6]));
                assert_eq!((version.number(), signal.version()), (1, version));
            }

            // proves: S-5
            // proves: S-6
            #[test]
            fn acknowledged_set_is_seen_on_every_thread() {
                let signal = $make(0_u64);
                for value in 1..=100 {
                    signal.set(value).unwrap();
                    let seen = thread::scope(|scope| {
                        let reading = scope.spawn(|| signal.get_cloned());
                        reading.join().unwrap()
                    });
                    assert_eq!((seen, signal.read(|value| *value)), (value, value));
                }
            }

            // proves: S-6
            #[test]
            fn acknowledged_set_is_delivered_and_not_consumed() {
                let signal = $make(0_u64);
                let (rung, waker) = bell();
                let mut feed = signal.changes();
                assert_eq!(poll_next(&mut feed, &waker), Poll::Ready(Some(0)));
                assert_eq!(poll_next(&mut feed, &waker), Poll::Pending);
                thread::scope(|scope| {
                    scope.spawn(|| signal.set(7).unwrap());
                });
                assert_eq!((rung.rings(), feed.lag()), (1, 1));
                signal.set(8).unwrap();
                assert_eq!(rung.rings(), 1, "one wake is enough");
                assert_eq!(poll_next(&mut feed, &waker), Poll::Ready(Some(8)));
                signal.set(9).unwrap();
                assert_eq!(rung.rings(), 1, "it does not sleep");
            }

            // proves: S-7
            #[test]
            fn closing_delivers_the_final_value_then_the_end() {
                let signal = $make(1_u64);
                let mut early = signal.changes();
                assert_eq!(early.try_next(), Ok(1));
                signal.set(2).unwrap();
                signal.close();
                signal.close();
                assert!(signal.is_closed());
                let mut late = signal.changes();
                for feed in [&mut early, &mut late] {
                    assert_eq!(feed.try_next(), Ok(2));
                    assert!(!feed.is_terminated());
                    assert_eq!(feed.try_next(), Err(NextError::Closed));
                    assert!(feed.is_terminated());
                }
                assert_eq!(signal.set(3), Err(Closed(3)));
                assert_eq!(signal.set_eventually(3), Err(Closed(3)));
                assert_eq!(signal.update(|value| value + 1), Err(Closed(())));
                assert_eq!(signal.close_with(4), Err(Closed(4)));
                assert_eq!((signal.get_cloned(), signal.version().number()), (2, 1));
            }

            // proves: S-7
            #[test]
            fn closing_with_a_value_is_one_step() {
                let signal = $make(1_u64);
                let mut feed = signal.changes();
                let (rung, waker) = bell();
                assert_eq!(feed.try_next(), Ok(1));
                assert_eq!(poll_next(&mut feed, &waker), Poll::Pending);
                assert_eq!(signal.close_with(5).unwrap().number(), 1);
                assert_eq!(rung.rings(), 1);
                assert_eq!(poll_next(&mut feed, &waker), Poll::Ready(Some(5)));
                assert_eq!(poll_next(&mut feed, &waker), Poll::Ready(None));
                assert_eq!(poll_next(&mut feed, &waker), Poll::Ready(None));
            }

            // proves: S-7
            #[test]
            fn last_handle_closes_and_a_weak_one_does_not() {
                let signal = $make(1_u64);
                let mut feed = signal.changes();
                let weak = signal.downgrade();
                drop(signal.clone());
                assert_eq!(feed.try_next(), Ok(1));
                assert_eq!(feed.try_next(), Err(NextError::Empty));
                let (rung, waker) = bell();
                assert_eq!(poll_next(&mut feed, &waker), Poll::Pending);
                weak.upgrade().unwrap().set(2).unwrap();
                drop(signal);
                assert!(weak.clone().upgrade().is_none());
                assert_eq!(rung.rings(), 1);
                assert_eq!(poll_next(&mut feed, &waker), Poll::Ready(Some(2)));
                assert_eq!(feed.try_next(), Err(NextError::Closed));
            }

            // proves: S-10
            #[test]
            fn update_runs_again_when_another_set_was_faster() {
                let signal = $make(1_u64);
                let mut runs = 0;
                let version = signal.update(|value| {
                    runs += 1;
                    if runs < 3 {
                        signal.set(value * 10).unwrap();
                    }
                    value + 1
                });
                assert_eq!((runs, version.unwrap().number()), (3, 3));
                assert_eq!(signal.get_cloned(), 101);
            }

            // proves: S-1
            // proves: W-2
            #[test]
            fn a_million_sets_take_no_turn_and_scan_nothing() {
                let signal = $make(0_u64);
                let mut feeds = [signal.changes(), signal.changes()];
                let turns = signal.stats().control_turns;
                assert_eq!(turns, 1, "the first feed of a shard takes one");
                for value in 0..1_000_000 {
                    signal.set(value).unwrap();
                }
                assert_eq!(feeds[0].try_next(), Ok(999_999));
                let stats = signal.stats();
                assert_eq!((stats.control_turns, stats.scans), (turns, 0));
                assert_eq!((stats.bells, stats.blocks_added), (0, 0));
                drop(feeds);
                assert_eq!(signal.stats().control_turns, turns + 1);
            }

            // proves: S-6
            #[test]
            fn one_bell_wakes_all_feeds_of_a_thread() {
                let signal = $make(0_u64);
                let mut feeds: Vec<_> = (0..100).map(|_| (signal.changes(), bell())).collect();
                for round in 1..=3 {
                    let mut waits = Vec::new();
                    for (feed, (bell, waker)) in &mut feeds {
                        assert_eq!(feed.try_next(), Ok(round - 1));
                        let mut wait = Box::pin(feed.next());
                        let polled = wait.as_mut().poll(&mut Context::from_waker(waker));
                        assert!(polled.is_pending());
                        waits.push((wait, bell, waker));
                    }
                    signal.set(round).unwrap();
                    assert_eq!(signal.stats().bells, round);
                    let total: usize = waits.iter().map(|(_, bell, _)| bell.rings()).sum();
                    let before = (round as usize - 1) * waits.len();
                    assert_eq!(total, before + 1, "only one was woken from outside");
                    let rung =
                        |(_, bell, _): &(_, &mut Arc<Bell>, _)| bell.rings() == round as usize;
                    let duty = waits.iter().position(rung).unwrap();
                    let (wait, _, waker) = &mut waits[duty];
                    let polled = wait.as_mut().poll(&mut Context::from_waker(waker));
                    assert_eq!(polled, Poll::Ready(Some(round)));
                    assert!(waits.iter().all(rung));
                    signal.set(round).unwrap();
                    assert_eq!(signal.stats().bells, round, "nobody sleeps");
                }
            }

            #[test]
            fn feed_behind_a_faster_writer_gives_way() {
                let signal = $make(0_u64);
                let (mut feed, (bell, waker)) = (signal.changes(), bell());
                signal.set(1).unwrap();
                assert_eq!(poll_next(&mut feed, &waker), Poll::Ready(Some(1)));
                signal.set(2).unwrap();
                let turns = (0..100).position(|_| poll_next(&mut feed, &waker).is_ready());
                assert_eq!((turns, bell.rings()), (Some(16), 16), "it wakes itself");
                assert_eq!(feed.stats().delivered, 2);
            }

            // proves: S-6
            // proves: S-11
            #[test]
            fn feed_left_alone_as_a_stream_holds_up_nobody() {
                let signal = $make(0_u64);
                let mut feeds = [(); 4].map(|()| signal.changes());
                let bells = [(); 4].map(|()| bell());
                for feed in &mut feeds {
                    assert_eq!(feed.try_next(), Ok(0));
                }
                let [left, stream, first, second] = &mut feeds;
                assert_eq!(poll_next(left, &bells[0].1), Poll::Pending);
                assert_eq!(poll_next(stream, &bells[1].1), Poll::Pending);
                let mut waits = [pin!(first.next()), pin!(second.next())];
                for (wait, (_, waker)) in waits.iter_mut().zip(&bells[2..]) {
                    let polled = wait.as_mut().poll(&mut Context::from_waker(waker));
                    assert_eq!(polled, Poll::Pending);
                }
                thread::scope(|scope| {
                    scope.spawn(|| signal.set(1).unwrap());
                });
                let rings = || bells.each_ref().map(|(bell, _)| bell.rings());
                assert_eq!(rings(), [1, 1, 1, 0]);
                assert_eq!(poll_next(stream, &bells[1].1), Poll::Ready(Some(1)));
                assert_eq!(rings()[3], 1, "whoever is polled looks for its shard");
            }

            // proves: S-11
            #[test]
            fn dropped_waits_hand_their_duty_on() {
                // Who of three gives up, before and after the set.
                for gives_up in 0..3 {
                    for before in [true, false] {
                        let signal = $make(0_u64);
                        let mut feeds: Vec<_> = (0..3).map(|_| signal.changes()).collect();
                        let bells: Vec<_> = (0..3).map(|_| bell()).collect();
                        for feed in &mut feeds {
                            assert_eq!(feed.try_next(), Ok(0));
                        }
                        let mut waits: Vec<_> = feeds
                            .iter_mut()
                            .map(|feed| Some(Box::pin(feed.next())))
                            .collect();
                        for (wait, (_, waker)) in waits.iter_mut().zip(&bells) {
                            let wait = wait.as_mut().unwrap().as_mut();
                            assert_eq!(wait.poll(&mut Context::from_waker(waker)), Poll::Pending);
                        }
                        if before {
                            waits[gives_up] = None;
                            signal.set(1).unwrap();
                        } else {
                            signal.set(1).unwrap();
                            waits[gives_up] = None;
                        }
                        let mut done = [false; 3];
                        // Polls who was woken, until nobody is.
                        for _ in 0..6 {
                            for (place, (bell, waker)) in bells.iter().enumerate() {
                                let Some(wait) = &mut waits[place] else {
                                    continue;
                                };
                                if bell.rings() > 0 && !done[place] {
                                    let polled =
                                        wait.as_mut().poll(&mut Context::from_waker(waker));
                                    assert_eq!(polled, Poll::Ready(Some(1)));
                                    done[place] = true;
                                }
                            }
                        }
                        for (place, done) in done.iter().enumerate() {
                            assert_eq!(*done, place != gives_up, "{gives_up} gave up");
                        }
                        drop(waits);
                        assert_eq!(
                            feeds[gives_up].try_next(),
                            Ok(1),
                            "a dropped wait loses nothing"
                        );
                    }
                }
            }

            // proves: S-11
            #[test]
            fn dropped_feed_hands_its_duty_on() {
                let signal = $make(0_u64);
                let (rung, waker) = bell();
                let mut first = signal.changes();
                let mut second = signal.changes();
                for feed in [&mut first, &mut second] {
                    assert_eq!(feed.try_next(), Ok(0));
                    assert_eq!(poll_next(feed, &waker), Poll::Pending);
                }
                signal.set(1).unwrap();
                drop(first);
                assert!(rung.rings() >= 1);
                assert_eq!(poll_next(&mut second, &waker), Poll::Ready(Some(1)));
            }

            #[test]
            fn detached_feed_goes_on_elsewhere() {
                let signal = $make(0_u64);
                let (_rung, waker) = bell();
                let mut feed = signal.changes();
                assert_eq!(feed.try_next(), Ok(0));
                assert_eq!(poll_next(&mut feed, &waker), Poll::Pending);
                let mut feed = feed.detach();
                assert_eq!(feed.try_next(), Err(NextError::Empty));
                let taking = thread::spawn(move || {
                    let mut last = 0;
                    while let Ok(value) = feed.blocking_next(Duration::MAX) {
                        assert!(value > last);
                        last = value;
                    }
                    (last, feed.stats())
                });
                for value in 1..=1_000 {
                    signal.set(value).unwrap();
                }
                drop(signal);
                let (last, stats) = taking.join().unwrap();
                assert_eq!((last, stats.delivered + stats.dropped), (1_000, 1_001));
            }

            #[test]
            fn blocking_wait_ends_by_time() {
                let signal = $make(0_u64);
                let mut feed = signal.changes();
                assert_eq!(feed.blocking_next(Duration::ZERO), Ok(0));
                let waited = feed.blocking_next(Duration::from_millis(1));
                assert_eq!(waited, Err(NextError::Empty));
                signal.set(1).unwrap();
                assert_eq!(feed.blocking_next(Duration::ZERO), Ok(1));
            }

            #[test]
            fn panicking_waker_keeps_nobody_asleep() {
                struct Loud;
                impl Wake for Loud {
                    fn wake(self: Arc<Self>) {
                        panic!("a loud waker");
                    }
                }
                let signal = $make(0_u64);
                let mut loud = signal.changes().detach();
                let mut quiet = signal.changes();
                let (rung, waker) = bell();
                assert_eq!((loud.try_next(), quiet.try_next()), (Ok(0), Ok(0)));
                let shouting = Waker::from(Arc::new(Loud));
                assert_eq!(poll_next(&mut loud, &shouting), Poll::Pending);
                assert_eq!(poll_next(&mut quiet, &waker), Poll::Pending);
                let setting = std::panic::AssertUnwindSafe(|| signal.set(1));
                assert!(std::panic::catch_unwind(setting).is_err());
                assert_eq!((rung.rings(), quiet.try_next()), (1, Ok(1)));
                assert_eq!(loud.try_next(), Ok(1));
            }
        }
    };
}

facts!(shared, Signal::new);
facts!(plain, Signal::plain);

/// A value whose drop panics.
struct Sore(u64, bool);

impl Drop for Sore {
    fn drop(&mut self) {
        assert!(!self.1, "a sore value");
    }
}

#[test]
fn panicking_drop_of_a_replaced_value_keeps_nobody_asleep() {
    let signal = Signal::new(Arc::new(Sore(0, true)));
    let mut feed = signal.changes();
    let (rung, waker) = bell();
    assert_eq!(feed.try_next().unwrap().0, 0);
    assert!(poll_next(&mut feed, &waker).is_pending());
    let setting = std::panic::AssertUnwindSafe(|| signal.set(Arc::new(Sore(1, false))));
    assert!(std::panic::catch_unwind(setting).is_err());
    assert_eq!(rung.rings(), 1);
    assert_eq!(feed.try_next().unwrap().0, 1);
}

// proves: S-12
#[test]
fn writers_beyond_the_slots_get_a_block_more() {
    /// Holds a slot while it goes deeper: the second run of an update has one.
    fn deeper(signal: &corelane_primitives::PlainSignal<u64>, depth: u32) {
        let mut runs = 0;
        let updated = signal.update(|value| {
            runs += 1;
            match runs {
                1 => {
                    signal.set(value + 1).unwrap();
                }
                2 if depth > 0 => deeper(signal, depth - 1),
                _ => {}
            }
            value + 1
        });
        updated.unwrap();
    }
    let signal = Signal::plain(0);
    deeper(&signal, 150);
    assert_eq!(signal.stats().blocks_added, 2);
    let sets = signal.version().number();
    assert_eq!(signal.get_cloned(), sets);
    deeper(&signal, 150);
    assert_eq!(signal.stats().blocks_added, 2, "its slots were freed");
    assert_eq!(signal.get_cloned(), 2 * sets);
}

// proves: S-12
#[test]
fn plain_values_of_every_shape_come_back() {
    fn check<T>(values: impl IntoIterator<Item = T>)
    where
        T: bytemuck::NoUninit + bytemuck::CheckedBitPattern + PartialEq + std::fmt::Debug,
    {
        let mut values = values.into_iter();
        let signal = Signal::plain(values.next().unwrap());
        for value in values {
            signal.set(value).unwrap();
            assert_eq!(signal.get_cloned(), value);
        }
    }
    check([(), ()]);
    check([false, true]);
    check(['a', '\u{10ffff}']);
    check([1_u8, 255]);
    check([[1_u8; 7], [255; 7]]);
    check([[1_u16; 31], [7; 31]]);
    check([-1_i128, i128::MAX]);
    check([[1.5_f64; 8], [f64::MAX; 8]]);
    check([std::num::NonZeroU32::MIN, std::num::NonZeroU32::MAX].map(Some));
}

// proves: S-11
#[test]
fn future_dropped_before_its_first_poll_leaves_another_wait_alone() {
    let signal = Signal::new(0);
    let mut feed = signal.changes();
    let (rung, waker) = bell();
    assert_eq!(feed.try_next(), Ok(0));
    assert!(poll_next(&mut feed, &waker).is_pending());
    drop(feed.next());
    signal.set(1).unwrap();
    assert_eq!(rung.rings(), 1);
}
