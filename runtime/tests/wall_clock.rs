//! Somebody sets the wall clock by an hour: no wait of a shard knows of it.
//!
//! A test cannot set the machine's clock, and need not: the kernel moves no other clock with it, so
//! it is enough that no call names that one. That nobody reads it is a rule of the repository
//! (`docs/tests/tidy/clocks.rs`).
#![cfg(target_arch = "x86_64")]
#![allow(clippy::unwrap_used)]

#[path = "tracer/calls.rs"]
mod calls;
mod tracer;

use std::time::Duration;

use calls::{Call, between_marks};
use corelane::time::{Instant, interval, sleep, timeout};
use corelane::{Driver, IdlePolicy, Placement, Runtime, StartError, spawn};
use nix::unistd::Pid;

/// Numbers of calls that wait for a time or choose a clock (`asm/unistd_64.h`).
const FUTEX: u64 = 202;
const CLOCK_GETTIME: u64 = 228;
const CLOCK_NANOSLEEP: u64 = 230;
const TIMERFD_CREATE: u64 = 283;
const TIMERFD_SETTIME: u64 = 286;
const URING_ENTER: u64 = 426;
const URING_REGISTER: u64 = 427;

const CLOCK_REALTIME: u64 = 0;
/// Flags that name the wall clock, or an end on a clock that another call chooses.
const FUTEX_CLOCK_REALTIME: u64 = 256;
const TFD_TIMER_ABSTIME: u64 = 1;
const TFD_TIMER_CANCEL_ON_SET: u64 = 2;
const ENTER_EXT_ARG: u64 = 1 << 3;
const ENTER_ABS_TIMER: u64 = 1 << 5;
const REGISTER_CLOCK: u64 = 29;

/// What was seen.
#[derive(Debug, Default)]
struct Seen {
    /// Waits with an end.
    timed: u64,
    /// Calls that the wall clock moves.
    moved: Vec<Call>,
}

impl Seen {
    fn take(&mut self, call: Call) {
        let [first, second, _, fourth, ..] = call.arguments;
        let (timed, moved) = match call.number {
            // The end is the fourth argument.
            FUTEX => (fourth != 0, second & FUTEX_CLOCK_REALTIME != 0),
            CLOCK_GETTIME => (false, first == CLOCK_REALTIME),
            CLOCK_NANOSLEEP => (true, first == CLOCK_REALTIME),
            TIMERFD_CREATE => (false, first == CLOCK_REALTIME),
            TIMERFD_SETTIME => (
                true,
                second & (TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET) != 0,
            ),
            URING_ENTER => (fourth & ENTER_EXT_ARG != 0, fourth & ENTER_ABS_TIMER != 0),
            URING_REGISTER => (false, second == REGISTER_CLOCK),
            _ => (false, false),
        };
        self.timed += u64::from(timed);
        if moved {
            self.moved.push(call);
        }
    }
}

const STEP: Duration = Duration::from_millis(5);

/// Waits of every kind, by a shard that sleeps through each.
async fn waits() {
    for _ in 0..3 {
        sleep(STEP).await;
        let never = std::future::pending::<()>();
        assert!(timeout(STEP, never).await.is_err());
    }
    let mut ticks = interval(STEP);
    for _ in 0..3 {
        ticks.tick().await;
    }
    let tasks = [1, 2, 3].map(|steps| spawn(sleep(STEP * steps)));
    for task in tasks {
        task.await.unwrap();
    }
}

fn runtime(driver: Driver) -> corelane::Builder {
    Runtime::builder()
        .placement(Placement::Unpinned(1))
        .idle(IdlePolicy::Park)
        .driver(driver)
}

// proves: RT-14
#[test]
fn no_wait_of_a_shard_knows_the_wall_clock() {
    let drivers = [("uring", Driver::Uring), ("epoll", Driver::Epoll)];
    if let Some(task) = tracer::child() {
        let (_, driver) = drivers.into_iter().find(|(name, _)| *name == task).unwrap();
        tracer::begin();
        tracer::mark();
        // The drivers' own set-up and end are looked at too.
        let start = Instant::now();
        runtime(driver).run(waits).unwrap();
        assert!(start.elapsed() >= STEP * 11);
        tracer::mark();
        return;
    }
    for (name, driver) in drivers {
        match runtime(driver).run(async || ()) {
            Ok(()) => {}
            Err(StartError::Driver { .. }) if driver == Driver::Uring => continue,
            Err(error) => panic!("{name} did not start: {error}"),
        }
        let watch = |thread: Pid| {
            let mut seen = Seen::default();
            between_marks(thread, |call| {
                seen.take(call);
                None
            });
            seen
        };
        let test = "no_wait_of_a_shard_knows_the_wall_clock";
        let Some((seen, _)) = tracer::look(test, name, watch) else {
            return;
        };
        // On a busy machine most of them may be over before the shard could sleep.
        assert!(seen.timed > 0, "on {name}: {seen:?}");
        assert!(seen.moved.is_empty(), "on {name}: {seen:?}");
    }
}
