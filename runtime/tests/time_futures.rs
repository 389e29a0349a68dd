//! Sleeps, timeouts and intervals, on virtual time where the outcome depends on time.
#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::future::{Future, pending, poll_fn, ready};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use corelane::time::{Elapsed, Instant, interval, sleep, sleep_until, timeout, timeout_at};
use corelane::{Builder, Driver, Placement, Runtime, spawn, task};

const TICK: Duration = Duration::from_nanos(4096);
const MS: Duration = Duration::from_millis(1);

fn simulated() -> Builder {
    Runtime::builder()
        .placement(Placement::Unpinned(1))
        .driver(Driver::Sim(1))
}

/// A waker that counts.
#[derive(Default)]
struct Count(AtomicU64);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn counting() -> (Arc<Count>, Waker) {
    let count = Arc::new(Count::default());
    (Arc::clone(&count), Waker::from(count))
}

fn wakes(count: &Count) -> u64 {
    count.0.load(Ordering::Relaxed)
}

// proves: RT-14
#[test]
fn sleep_is_never_early_and_late_by_less_than_its_resolution() {
    let main = || async {
        // The turns in between cost virtual microseconds.
        let slack = TICK + Duration::from_micros(10);
        for ns in [
            0,
            1,
            4095,
            4096,
            4097,
            8191,
            262_144,
            999_999,
            16_777_216,
            1_000_000_007,
        ] {
            let wanted = Duration::from_nanos(ns);
            let start = Instant::now();
            sleep(wanted).await;
            let slept = start.elapsed();
            assert!(slept >= wanted, "{slept:?} instead of {wanted:?}");
            assert!(slept <= wanted + slack, "{slept:?} instead of {wanted:?}");
        }
    };
    simulated().run(main).unwrap();
}

// proves: RT-14
#[test]
fn sleep_on_every_driver_is_never_early() {
    for driver in [Driver::Auto, Driver::Epoll] {
        let builder = Runtime::builder()
            .placement(Placement::Unpinned(1))
            .driver(driver);
        let main = || async {
            for micros in [0, 1, 10, 100, 1_000, 5_000] {
                let wanted = Duration::from_micros(micros);
                let start = std::time::Instant::now();
                sleep(wanted).await;
                assert!(start.elapsed() >= wanted);
            }
        };
        builder.run(main).unwrap();
    }
}

// proves: RT-14
#[test]
fn sleep_counts_from_its_call_and_not_from_the_turn() {
    let builder = Runtime::builder().placement(Placement::Unpinned(1));
    let main = || async {
        task::yield_now().await;
        // A long poll: the time of the shard's turn falls behind.
        let turn = std::time::Instant::now();
        while turn.elapsed() < 2 * MS {
            std::hint::spin_loop();
        }
        let start = std::time::Instant::now();
        sleep(MS).await;
        assert!(start.elapsed() >= MS);
    };
    builder.run(main).unwrap();
}

#[test]
fn sleeps_end_in_the_order_of_their_deadlines() {
    let main = || async {
        let order = Rc::new(Cell::new(0));
        let tasks: Vec<_> = [50, 10, 3000, 40, 20]
            .map(|ms| {
                let order = Rc::clone(&order);
                spawn(async move {
                    sleep(ms * MS).await;
                    order.replace(order.get() + 1)
                })
            })
            .into();
        let mut places = Vec::new();
        for task in tasks {
            places.push(task.await.unwrap());
        }
        assert_eq!(places, [3, 0, 4, 2, 1]);
    };
    simulated().run(main).unwrap();
}

#[test]
fn duration_beyond_the_clock_sleeps_for_ever() {
    let main = || async {
        let never = sleep(Duration::MAX);
        assert_eq!(never.deadline().as_nanos(), u64::MAX);
        assert_eq!(timeout(1000 * MS, never).await, Err(Elapsed));
        assert_eq!(timeout(Duration::MAX, ready(1)).await, Ok(1));
    };
    simulated().run(main).unwrap();
}

#[test]
fn dropped_sleep_wakes_nobody() {
    let main = || async {
        let (count, waker) = counting();
        for _ in 0..1000 {
            let mut dropped = sleep(MS);
            let poll = Pin::new(&mut dropped).poll(&mut Context::from_waker(&waker));
            assert!(poll.is_pending());
        }
        sleep(2 * MS).await;
        assert_eq!(wakes(&count), 0);
        assert_eq!(
            Arc::strong_count(&count),
            2,
            "a dropped sleep drops its waker"
        );
    };
    simulated().run(main).unwrap();
}

#[test]
fn last_waker_of_a_sleep_is_woken() {
    let main = || async {
        let (first, second) = (counting(), counting());
        let mut sleeping = sleep(MS);
        for waker in [&first.1, &second.1, &second.1] {
            let poll = Pin::new(&mut sleeping).poll(&mut Context::from_waker(waker));
            assert!(poll.is_pending());
        }
        sleep(2 * MS).await;
        assert_eq!((wakes(&first.0), wakes(&second.0)), (0, 1));
        assert!(!sleeping.is_over(), "no poll has seen it");
        (&mut sleeping).await;
        assert!(sleeping.is_over());
        (&mut sleeping).await;
    };
    simulated().run(main).unwrap();
}

#[test]
fn sleep_that_is_reset_ends_at_its_new_deadline() {
    let main = || async {
        let start = Instant::now();
        let mut sleeping = sleep(MS);
        let poll = Pin::new(&mut sleeping).poll(&mut Context::from_waker(Waker::noop()));
        assert!(poll.is_pending());
        sleeping.reset(start + 5 * MS);
        (&mut sleeping).await;
        assert!(start.elapsed() >= 5 * MS);
        sleeping.reset(start + 7 * MS);
        assert!(!sleeping.is_over());
        sleeping.await;
        assert!(start.elapsed() >= 7 * MS);
    };
    simulated().run(main).unwrap();
}

/// A waker whose drop arms and drops a sleep.
struct Reentrant;

impl Wake for Reentrant {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Reentrant {
    fn drop(&mut self) {
        let mut nested = sleep(MS);
        let poll = Pin::new(&mut nested).poll(&mut Context::from_waker(Waker::noop()));
        assert!(poll.is_pending());
    }
}

#[test]
fn waker_may_arm_timers_when_it_is_woken_replaced_or_dropped() {
    let main = || async {
        let poll = |sleeping: &mut corelane::time::Sleep, waker: &Waker| {
            assert!(
                Pin::new(sleeping)
                    .poll(&mut Context::from_waker(waker))
                    .is_pending()
            );
        };
        let (mut dropped, mut replaced, mut woken) = (sleep(MS), sleep(MS), sleep(MS));
        for sleeping in [&mut dropped, &mut replaced, &mut woken] {
            poll(sleeping, &Waker::from(Arc::new(Reentrant)));
        }
        drop(dropped);
        poll(&mut replaced, Waker::noop());
        sleep(2 * MS).await;
        woken.await;
    };
    simulated().run(main).unwrap();
}

#[test]
fn timeout_gives_the_output_or_says_that_time_is_over() {
    let main = || async {
        assert_eq!(timeout(MS, ready(7)).await, Ok(7));
        assert_eq!(
            timeout(Duration::ZERO, ready(7)).await,
            Ok(7),
            "the future comes first"
        );
        assert_eq!(timeout(MS, pending::<()>()).await, Err(Elapsed));
        assert_eq!(timeout(5 * MS, sleep(MS)).await, Ok(()));
        assert_eq!(timeout(MS, sleep(5 * MS)).await, Err(Elapsed));
        let over = Instant::now();
        assert_eq!(timeout_at(over, pending::<()>()).await, Err(Elapsed));
        assert_eq!(
            Elapsed.to_string(),
            "the time was over before the future was ready"
        );
    };
    simulated().run(main).unwrap();
}

#[test]
fn timeout_drops_its_future() {
    let main = || async {
        let token = Rc::new(());
        let held = Rc::clone(&token);
        let holding = async move {
            let _held = held;
            pending::<()>().await;
        };
        assert_eq!(timeout(MS, holding).await, Err(Elapsed));
        assert_eq!(Rc::strong_count(&token), 1);
    };
    simulated().run(main).unwrap();
}

#[test]
fn interval_ticks_on_its_grid_and_skips_what_is_missed() {
    let main = || async {
        let mut ticks = interval(10 * MS);
        assert_eq!(ticks.period(), 10 * MS);
        let first = ticks.tick().await;
        assert_eq!(ticks.tick().await - first, 10 * MS);
        assert_eq!(ticks.tick().await - first, 20 * MS);
        sleep(35 * MS).await;
        // 30 is late, 40 and 50 are skipped, 60 is to come.
        assert_eq!(ticks.tick().await - first, 30 * MS);
        assert_eq!(ticks.tick().await - first, 60 * MS);
        assert!(timeout(5 * MS, ticks.tick()).await.is_err());
        assert_eq!(
            ticks.tick().await - first,
            70 * MS,
            "a dropped call takes no tick"
        );
        ticks.reset();
        let reset = Instant::now();
        assert_eq!(ticks.tick().await - reset, 10 * MS);
    };
    simulated().run(main).unwrap();
}

#[test]
#[should_panic(expected = "an interval's period is zero")]
fn interval_without_a_period_is_refused() {
    simulated()
        .run(|| async { interval(Duration::ZERO).tick().await })
        .unwrap();
}

#[test]
fn sleep_until_the_past_is_over_at_once() {
    let main = || async {
        let now = Instant::now();
        sleep(MS).await;
        let mut over = pin!(sleep_until(now));
        poll_fn(|cx| {
            assert!(over.as_mut().poll(cx).is_ready());
            Poll::Ready(())
        })
        .await;
    };
    simulated().run(main).unwrap();
}

// proves: RT-14
#[test]
fn thousands_of_timers_at_one_instant_all_fire() {
    let main = || async {
        let deadline = Instant::now() + 20 * MS;
        let tasks: Vec<_> = (0..5_000).map(|_| spawn(sleep_until(deadline))).collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert!(Instant::now() >= deadline);
    };
    simulated().run(main).unwrap();
}
