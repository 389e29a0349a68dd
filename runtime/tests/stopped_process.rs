//! A process that stands still for seconds while timers fall due.
#![allow(clippy::unwrap_used)]

mod alone;

use std::cell::{Cell, RefCell};
use std::io::Read;
use std::rc::Rc;
use std::sync::mpsc;
use std::time::Duration;

use alone::alone;
use corelane::metrics::snapshot;
use corelane::time::{Instant, sleep_until};
use corelane::{Driver, IdlePolicy, Placement, Running, Runtime, spawn};
use rustix::process::{Pid, Signal, kill_process};

const NAME: &str = "process_that_was_stopped_loses_no_timer_and_fires_in_batches";
const READY: &str = "all timers are armed";
const TIMERS: u32 = 5_000;
/// How long the process stands still, which all timers but the last ones fall into.
const STOPPED: Duration = Duration::from_secs(5);
/// From one timer to the next: the last ones are due a second after the process goes on.
const STEP: Duration = Duration::from_micros(1_200);
/// Timers that one turn fires at most.
const BATCH_MAX: u64 = 256;

/// What the timers saw as they fired.
#[derive(Default)]
struct Seen {
    early: Cell<u32>,
    /// The turn and the timers fired before it, each time a sleeper ran.
    fired: RefCell<Vec<(u64, u64)>>,
}

/// Arms the timers, says so, and waits for all of them. Returns how many were early, and the most
/// that fired in one turn.
async fn sleepers(ready: mpsc::Sender<()>) -> (u32, u64) {
    let seen = Rc::new(Seen::default());
    let start = Instant::now();
    let sleepers: Vec<_> = (1..=TIMERS)
        .map(|number| {
            let seen = Rc::clone(&seen);
            let deadline = start + STEP * number;
            spawn(async move {
                sleep_until(deadline).await;
                if Instant::now() < deadline {
                    seen.early.set(seen.early.get() + 1);
                }
                let here = &snapshot().shards[0];
                seen.fired
                    .borrow_mut()
                    .push((here.turns, here.timers_fired));
            })
        })
        .collect();
    corelane::task::yield_now().await;
    ready.send(()).unwrap();
    for sleeper in sleepers {
        sleeper.await.unwrap();
    }
    let fired = seen.fired.borrow();
    assert_eq!(fired.len(), TIMERS as usize, "no timer is lost");
    // A sleeper runs within some turn of those that fired what was counted since the last look.
    let most = fired.windows(2).map(|pair| {
        let (turns, timers) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
        timers.div_ceil(turns.max(1))
    });
    (seen.early.get(), most.max().unwrap())
}

/// A runtime on each driver that is there.
fn runtimes() -> Vec<Running> {
    let start = |driver| {
        Runtime::builder()
            .placement(Placement::Unpinned(1))
            .driver(driver)
            .idle(IdlePolicy::Park)
            .start()
    };
    let mut runtimes = vec![start(Driver::Epoll).unwrap()];
    match start(Driver::Uring) {
        Ok(running) => runtimes.push(running),
        Err(error) => eprintln!("this machine refuses io_uring: {error}"),
    }
    runtimes
}

/// The program that is stopped.
fn child() {
    let runtimes = runtimes();
    let (ready, is_ready) = mpsc::channel();
    let calls: Vec<_> = runtimes
        .iter()
        .map(|running| {
            let ready = ready.clone();
            running.shard(0).submit(move || sleepers(ready))
        })
        .collect();
    for _ in &runtimes {
        is_ready.recv().unwrap();
    }
    println!("{READY}");
    for (call, running) in calls.into_iter().zip(runtimes) {
        let driver = running.metrics().shards[0].driver.name().to_owned();
        let (early, most) = call.wait().unwrap();
        assert_eq!(early, 0, "{driver}");
        assert!(most <= BATCH_MAX, "{driver}: {most} timers in one turn");
        // Fewer would say that the process was not stopped.
        assert!(most > BATCH_MAX / 2, "{driver}: {most} timers in one turn");
        running.shutdown(Duration::ZERO).unwrap();
    }
}

// proves: RT-14
#[test]
fn process_that_was_stopped_loses_no_timer_and_fires_in_batches() {
    alone(NAME, child, |mut program| {
        // One line, read byte by byte, so that the rest is there for the end.
        let mut line = Vec::new();
        let said = program.stdout.as_mut().unwrap();
        while !line.ends_with(READY.as_bytes()) {
            let mut byte = [0];
            said.read_exact(&mut byte).unwrap();
            line.extend(byte);
        }
        let pid = Pid::from_child(&program);
        kill_process(pid, Signal::STOP).unwrap();
        // The fault itself: nothing is waited for here.
        let (_nobody, nothing) = mpsc::channel::<()>();
        assert!(nothing.recv_timeout(STOPPED).is_err());
        kill_process(pid, Signal::CONT).unwrap();
        program.wait_with_output().unwrap()
    });
}
