//! The bounded way in for threads outside the shards.
#![allow(clippy::unwrap_used)]

use std::future::Future;
use std::pin::pin;
use std::sync::mpsc;
use std::task::{Context, Waker};
use std::time::Duration;

use corelane::{Builder, Driver, OutsideShard, Placement, Runtime, SubmitError, TrySubmitError};

const LIMIT: Duration = Duration::from_secs(30);

fn one_shard() -> Builder {
    Runtime::builder()
        .placement(Placement::Unpinned(1))
        .inbox_capacity(4)
}

/// A capture that panics in its drop, if it is told to.
struct Capture(bool);

impl Drop for Capture {
    fn drop(&mut self) {
        if self.0 {
            std::panic::resume_unwind(Box::new("a drop that panics"));
        }
    }
}

/// Keeps the shard inside a poll until the sender is used or dropped.
fn occupy(shard: &OutsideShard) -> mpsc::Sender<()> {
    let (release, released) = mpsc::channel();
    let (enter, entered) = mpsc::channel();
    let call = shard.submit(move || async move {
        enter.send(()).unwrap();
        // A sender that is gone releases too.
        let _ = released.recv_timeout(LIMIT);
    });
    entered.recv_timeout(LIMIT).unwrap();
    // Dropping the call cancels it only between its polls.
    drop(call);
    release
}

// proves: RT-3
#[test]
fn full_inbox_refuses_and_takes_calls_in_order_once_there_is_room() {
    let running = one_shard().start().unwrap();
    let shard = running.shard(0);
    let release = occupy(&shard);
    let (arrive, arrived) = mpsc::channel();
    let call = |number: u32| {
        let arrive = arrive.clone();
        move || async move { arrive.send(number).unwrap() }
    };
    let taken: Vec<_> = (0..4)
        .map(|number| shard.try_submit(call(number)).unwrap())
        .collect();
    assert!(matches!(
        shard.try_submit(call(4)),
        Err(TrySubmitError::Full(()))
    ));
    // This one waits for room; a poll asks to be told of it.
    let mut waiting = pin!(shard.submit(call(5)));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(waiting.as_mut().poll(&mut cx).is_pending());
    release.send(()).unwrap();
    for call in taken {
        call.wait().unwrap();
    }
    shard.submit(call(6)).wait().unwrap();
    let order: Vec<_> = arrived.try_iter().collect();
    assert_eq!(order, [0, 1, 2, 3, 6]);
    running.shutdown(LIMIT).unwrap();
}

// proves: RT-3
#[test]
fn thread_that_waits_for_room_is_woken_by_it() {
    let running = one_shard().start().unwrap();
    let shard = running.shard(0);
    let release = occupy(&shard);
    let threads: Vec<_> = (0..32_u32)
        .map(|number| {
            let shard = shard.clone();
            std::thread::spawn(move || shard.submit(move || async move { number }).wait())
        })
        .collect();
    release.send(()).unwrap();
    for (number, thread) in threads.into_iter().enumerate() {
        assert_eq!(thread.join().unwrap().unwrap() as usize, number);
    }
}

// proves: RT-8
#[test]
fn call_from_outside_says_that_its_shard_is_gone() {
    let running = one_shard().start().unwrap();
    let shard = running.shard(0);
    let pending = shard.submit(std::future::pending::<()>);
    running.shutdown(Duration::ZERO).unwrap();
    assert!(matches!(pending.wait(), Err(SubmitError::ShardGone)));
    let late = shard.submit(|| async { 1 });
    assert!(matches!(late.wait(), Err(SubmitError::ShardGone)));
    assert!(matches!(
        shard.try_submit(|| async { 1 }),
        Err(TrySubmitError::ShardGone(()))
    ));
}

// proves: RT-18
#[test]
fn captures_that_panic_when_their_call_is_never_started_end_no_shard() {
    for driver in [Driver::Uring, Driver::Epoll] {
        let builder = Runtime::builder().placement(Placement::Unpinned(2));
        let Ok(running) = builder.driver(driver).start() else {
            assert_ne!(driver, Driver::Epoll, "epoll is everywhere");
            continue;
        };
        let (first, second) = (running.shard(0), running.shard(1));
        let release = occupy(&second);
        // More than a shard takes in one turn.
        let calls: Vec<_> = (0..200)
            .map(|number| {
                let capture = Capture(number % 2 == 0);
                second.submit(move || async move {
                    std::future::pending::<()>().await;
                    drop(capture);
                })
            })
            .collect();
        let ending = std::thread::spawn(move || drop(running));
        while first.submit(|| async {}).wait().is_ok() {}
        release.send(()).unwrap();
        for (number, call) in calls.into_iter().enumerate() {
            match call.wait() {
                Err(SubmitError::Panicked(_)) if number % 2 == 0 => {}
                Err(SubmitError::ShardGone) if number % 2 == 1 => {}
                other => panic!("call {number}: {other:?}"),
            }
        }
        ending.join().unwrap();
    }
}
