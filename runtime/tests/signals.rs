//! SIGINT and SIGTERM, raised in programs of their own: each test runs itself again as a child.
#![allow(clippy::unwrap_used)]

use std::future::{Future, poll_fn};
use std::os::unix::process::ExitStatusExt;
use std::pin::pin;
use std::process::{Command, ExitStatus};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use corelane::signal::{self, Signal, Signals};
use corelane::{Driver, Placement, Runtime, shard, shards, sim, spawn, task};
use rustix::process::{Signal as Raised, getpid, kill_process};

const CHILD: &str = "CORELANE_SIGNALS_CHILD";

/// Runs the test `name` again as a program of its own on `driver`; there `is_child` says so.
fn in_child(name: &str, driver: &str) -> ExitStatus {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .env("CORELANE_DRIVER", driver)
        .status()
        .unwrap()
}

/// The driver of the shard that this is.
fn driver() -> String {
    shard().driver().unwrap().name().to_owned()
}

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Sends a signal to this process. Call it only where a listener has been made.
fn raise(signal: Raised) {
    kill_process(getpid(), signal).unwrap();
}

/// Whether `future` is still pending after one poll.
async fn is_pending(future: impl Future) -> bool {
    let mut future = pin!(future);
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_pending())).await
}

#[corelane::test(shards = 2)]
async fn listeners_on_every_shard_hear_each_signal() {
    if !is_child() {
        assert!(in_child("listeners_on_every_shard_hear_each_signal", &driver()).success());
        return;
    }
    let mut here = Signals::new().unwrap();
    let listening = Rc::new(std::cell::Cell::new(false));
    let there = shards()[1].clone();
    // Made before the signal, on the other shard.
    let over_there = there.submit(|| async {
        let mut signals = Signals::new().unwrap();
        assert!(is_pending(signals.next()).await);
        signals
    });
    let mut over_there = over_there.await.unwrap();
    let heard =
        there.submit(move || async move { [over_there.next().await, over_there.next().await] });
    let by_task = spawn({
        let listening = Rc::clone(&listening);
        async move {
            let mut next = pin!(signal::next());
            let mut signal = None;
            poll_fn(|cx| {
                let poll = next.as_mut().poll(cx);
                listening.set(true);
                poll.map(|heard| signal = Some(heard.unwrap()))
            })
            .await;
            signal.unwrap()
        }
    });
    while !listening.get() {
        task::yield_now().await;
    }
    raise(Raised::TERM);
    assert_eq!(here.next().await, Signal::Terminate);
    assert_eq!(by_task.await.unwrap(), Signal::Terminate);
    raise(Raised::INT);
    assert_eq!(here.next().await, Signal::Interrupt);
    let both = [Signal::Terminate, Signal::Interrupt];
    let heard = heard.await.unwrap();
    // It may have looked only after both.
    assert!(heard == both || heard == [both[1], both[0]], "{heard:?}");
}

#[corelane::test(shards = 1)]
async fn signals_between_two_calls_are_counted() {
    if !is_child() {
        assert!(in_child("signals_between_two_calls_are_counted", &driver()).success());
        return;
    }
    let (mut counted, mut witness) = (Signals::new().unwrap(), Signals::new().unwrap());
    for _ in 0..100 {
        raise(Raised::INT);
        // The kernel merges equal signals that it has not delivered, so each is waited for.
        assert_eq!(witness.next().await, Signal::Interrupt);
    }
    let mut late = Signals::new().unwrap();
    for _ in 0..100 {
        assert_eq!(counted.next().await, Signal::Interrupt);
    }
    assert!(is_pending(counted.next()).await);
    assert!(is_pending(late.next()).await);
}

#[corelane::test(shards = 1)]
async fn dropped_call_takes_no_signal() {
    if !is_child() {
        assert!(in_child("dropped_call_takes_no_signal", &driver()).success());
        return;
    }
    let (mut signals, mut witness) = (Signals::new().unwrap(), Signals::new().unwrap());
    for _ in 0..10 {
        let mut dropped = Box::pin(signals.next());
        assert!(is_pending(&mut dropped).await);
        raise(Raised::TERM);
        assert_eq!(witness.next().await, Signal::Terminate);
        drop(dropped);
        assert_eq!(signals.next().await, Signal::Terminate);
    }
    assert!(is_pending(signals.next()).await);
}

/// Panics when it wakes.
struct Bomb;

impl Wake for Bomb {
    fn wake(self: Arc<Self>) {
        panic!("a waker that panics");
    }
}

// proves: RT-18
#[corelane::test(shards = 1)]
async fn signals_are_heard_past_a_waker_that_panics() {
    if !is_child() {
        assert!(in_child("signals_are_heard_past_a_waker_that_panics", &driver()).success());
        return;
    }
    let bomb = Waker::from(Arc::new(Bomb));
    let (mut broken, mut whole) = (Signals::new().unwrap(), Signals::new().unwrap());
    for _ in 0..3 {
        let mut next = pin!(broken.next());
        let polled = next.as_mut().poll(&mut Context::from_waker(&bomb));
        assert!(polled.is_pending());
        assert!(is_pending(whole.next()).await);
        raise(Raised::TERM);
        assert_eq!(whole.next().await, Signal::Terminate);
        assert_eq!(next.await, Signal::Terminate);
    }
}

#[test]
fn hub_thread_may_run_wherever_the_process_may() {
    if !is_child() {
        assert!(in_child("hub_thread_may_run_wherever_the_process_may", "auto").success());
        return;
    }
    let mask = thread_aware::registry::original_mask().unwrap();
    let first = mask[0].number() as usize;
    Runtime::builder()
        .placement(Placement::Cores(vec![first]))
        .driver(Driver::Epoll)
        .run(|| async { drop(Signals::new().unwrap()) })
        .unwrap();
    let wanted = allowed("self/status".as_ref());
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let hub = tasks
        .map(|task| task.unwrap().path())
        .find(|task| {
            std::fs::read_to_string(task.join("comm")).unwrap().trim() == "corelane-signal"
        })
        .expect("the hub has a thread");
    assert_eq!(allowed(&hub.join("status")), wanted);
}

/// The allowed processors that a status file below `/proc` shows.
fn allowed(status: &std::path::Path) -> String {
    let text = std::fs::read_to_string(std::path::Path::new("/proc").join(status)).unwrap();
    let line = text
        .lines()
        .find(|line| line.starts_with("Cpus_allowed_list"));
    line.unwrap().to_owned()
}

#[test]
fn simulation_leaves_signals_to_the_system() {
    if !is_child() {
        let status = in_child("simulation_leaves_signals_to_the_system", "auto");
        assert_eq!(status.signal(), Some(Raised::TERM.as_raw()));
        return;
    }
    let builder = Runtime::builder().placement(Placement::Unpinned(1));
    sim::for_seeds(&builder, 1, async || {
        let mut signals = Signals::new().unwrap();
        assert!(is_pending(signals.next()).await);
    });
    // Nothing has taken it, so it ends this child.
    raise(Raised::TERM);
}
