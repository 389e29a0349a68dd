//! Wakes by threads that are no shards: none is lost, none waits, and busy shards see them too.
#![allow(clippy::unwrap_used)]

mod gate;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use corelane::task::yield_now;
use corelane::{Builder, Driver, IdlePolicy, Placement, Runtime, shards, shutdown, spawn};
use gate::Gate;

/// How long a thread waits for an answer before it takes the wake for lost.
const LOST_AFTER: Duration = Duration::from_secs(30);
const THREADS: usize = 6;

fn parks(builder: Builder) -> Builder {
    builder.idle(IdlePolicy::Park)
}

/// Opens the gate and waits until somebody has passed, `rounds` times.
fn open_in_step(gate: &Gate, rounds: u32, passed: &mpsc::Receiver<()>) {
    for _ in 0..rounds {
        gate.open();
        if passed.recv_timeout(LOST_AFTER).is_err() {
            gate.give_up();
            return;
        }
    }
}

/// Threads that open a gate each, in step with tasks on all shards.
async fn threads_and_tasks_in_step(rounds: u32) {
    let shards = shards();
    let mut tasks = Vec::new();
    let mut threads = Vec::new();
    for number in 0..THREADS {
        let gate = Gate::default();
        let (pass, passed) = mpsc::channel();
        let task = gate.clone();
        tasks.push(shards[number % shards.len()].submit(move || async move {
            for _ in 0..rounds {
                task.pass().await;
                pass.send(()).unwrap();
            }
        }));
        threads.push(thread::spawn(move || {
            open_in_step(&gate, rounds, &passed);
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    for thread in threads {
        thread.join().unwrap();
    }
}

// proves: RT-3
#[corelane::test(shards = 2, with = parks)]
async fn no_wake_of_a_sleeping_shard_is_lost() {
    threads_and_tasks_in_step(1_000).await;
}

// proves: RT-3
#[corelane::test(shards = 3)]
async fn no_wake_of_a_spinning_or_sleeping_shard_is_lost() {
    threads_and_tasks_in_step(1_000).await;
}

// proves: RT-3
#[corelane::test(shards = 2)]
async fn no_wake_is_lost_among_many_at_once() {
    const WAKES: u32 = 20_000;
    let gate = Gate::default();
    let waiting = shards()[1].submit({
        let gate = gate.clone();
        move || async move {
            for _ in 0..THREADS as u32 * WAKES {
                gate.pass().await;
            }
        }
    });
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let gate = gate.clone();
            thread::spawn(move || (0..WAKES).for_each(|_| gate.open()))
        })
        .collect();
    waiting.await.unwrap();
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Drivers that are there.
fn drivers() -> Vec<Driver> {
    let uring = Runtime::builder()
        .placement(Placement::Unpinned(1))
        .driver(Driver::Uring)
        .start();
    match uring {
        Ok(_) => vec![Driver::Uring, Driver::Epoll],
        Err(_) => vec![Driver::Epoll],
    }
}

// proves: RT-3
#[test]
fn wakes_during_shutdown_are_not_lost() {
    const ROUNDS: u32 = 500;
    for driver in drivers() {
        let running = Runtime::builder()
            .placement(Placement::Unpinned(2))
            .driver(driver)
            .start()
            .unwrap();
        let mut calls = Vec::new();
        let mut threads = Vec::new();
        for number in 0..THREADS {
            let gate = Gate::default();
            let (begin, begun) = mpsc::channel();
            let (pass, passed) = mpsc::channel();
            let task = gate.clone();
            calls.push(running.shard(number % 2).submit(move || async move {
                shutdown::wait().await;
                begin.send(()).unwrap();
                for _ in 0..ROUNDS {
                    task.pass().await;
                    pass.send(()).unwrap();
                }
            }));
            threads.push(thread::spawn(move || {
                begun.recv_timeout(LOST_AFTER).unwrap();
                open_in_step(&gate, ROUNDS, &passed);
            }));
        }
        running.shutdown(2 * LOST_AFTER).unwrap();
        for call in calls {
            call.wait().unwrap();
        }
        for thread in threads {
            thread.join().unwrap();
        }
    }
}

// proves: RT-3
#[test]
fn wakes_of_tasks_that_are_gone_do_no_harm() {
    for driver in drivers() {
        let gates: Vec<_> = (0..THREADS).map(|_| Gate::default()).collect();
        let over = Arc::new(AtomicBool::new(false));
        let threads: Vec<_> = gates
            .iter()
            .map(|gate| {
                let (gate, over) = (gate.clone(), Arc::clone(&over));
                thread::spawn(move || {
                    while !over.load(Ordering::Relaxed) {
                        gate.open();
                        thread::yield_now();
                    }
                })
            })
            .collect();
        // Each runtime takes the mailboxes of the one before, with stale wakes in them.
        for _ in 0..20 {
            let running = Runtime::builder()
                .placement(Placement::Unpinned(2))
                .driver(driver)
                .start()
                .unwrap();
            let calls: Vec<_> = gates
                .iter()
                .enumerate()
                .map(|(number, gate)| {
                    let gate = gate.clone();
                    running.shard(number % 2).submit(move || async move {
                        loop {
                            gate.pass().await;
                        }
                    })
                })
                .collect();
            running.shard(0).submit(yield_now).wait().unwrap();
            drop(running);
            for call in calls {
                let gone = call
                    .wait()
                    .map(|never: std::convert::Infallible| match never {});
                assert!(
                    matches!(gone, Err(corelane::SubmitError::ShardGone)),
                    "{gone:?}"
                );
            }
        }
        over.store(true, Ordering::Relaxed);
        for thread in threads {
            thread.join().unwrap();
        }
    }
}

// proves: RT-3
#[corelane::test(shards = 1)]
async fn busy_shard_sees_a_foreign_wake_before_it_goes_round_again() {
    const YIELDERS: u64 = 64;
    // A task that is woken comes after those that are queued; the slice that runs when the wake
    // arrives may go on to its end, and the count itself is read a little early or late.
    const POLLS_MAX: u64 = 3 * YIELDERS;
    let polls = Arc::new(AtomicU64::new(0));
    let over = Rc::new(Cell::new(false));
    for _ in 0..YIELDERS {
        let (polls, over) = (Arc::clone(&polls), Rc::clone(&over));
        spawn(async move {
            while !over.get() {
                polls.fetch_add(1, Ordering::Relaxed);
                yield_now().await;
            }
        })
        .detach();
    }
    for _ in 0..200 {
        let gate = Gate::default();
        let opened = thread::spawn({
            let (gate, polls) = (gate.clone(), Arc::clone(&polls));
            move || {
                gate.wait_for_waiter();
                gate.open();
                polls.load(Ordering::Relaxed)
            }
        });
        gate.pass().await;
        let passed = polls.load(Ordering::Relaxed);
        let opened = opened.join().unwrap();
        let between = passed.saturating_sub(opened);
        assert!(
            between <= POLLS_MAX,
            "{between} polls came before the woken task"
        );
    }
    over.set(true);
}
