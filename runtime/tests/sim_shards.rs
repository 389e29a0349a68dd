//! Whole runtimes in simulation: all shards on one thread, from a seed.
#![allow(clippy::unwrap_used)]

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

use corelane::time::{Instant, sleep};
use corelane::{Driver, Runtime, SubmitError, sim, spawn, task};

fn shards(count: usize) -> corelane::Builder {
    Runtime::builder().placement(corelane::Placement::Unpinned(count))
}

fn panic_of(simulation: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(simulation)).unwrap_err();
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => (*panic.downcast::<&str>().unwrap()).to_owned(),
    }
}

/// Every shard calls every other one; returns the order in which the calls arrived.
async fn calls() -> Vec<(usize, usize)> {
    let order = Rc::new(RefCell::new(Vec::new()));
    let count = corelane::shards().len();
    let mut tasks = Vec::new();
    for from in 0..count {
        for to in 0..count {
            let order = Rc::clone(&order);
            tasks.push(spawn(async move {
                let shard = corelane::shards()[from].clone();
                let call = move || async move {
                    let there = corelane::shards()[to].clone();
                    there
                        .submit(move || async move { (from, to) })
                        .await
                        .unwrap()
                };
                let done = shard.submit(call).await.unwrap();
                sim::note((done.0 * count + done.1) as u64);
                order.borrow_mut().push(done);
            }));
        }
    }
    for task in tasks {
        task.await.unwrap();
    }
    order.take()
}

// proves: RT-22
#[test]
fn one_seed_gives_one_run() {
    for seed in 0..10 {
        let (first, report) = shards(4).simulate(seed, calls).unwrap();
        let (second, again) = shards(4).simulate(seed, calls).unwrap();
        assert_eq!(first, second);
        assert_eq!(report, again);
        assert_eq!(report.seed(), seed);
        assert!(report.turns() > 0);
    }
}

// proves: RT-22
#[test]
fn seeds_differ_in_their_interleavings() {
    let mut orders = BTreeSet::new();
    let mut hashes = BTreeSet::new();
    for seed in 0..10 {
        let (mut order, report) = shards(4).simulate(seed, calls).unwrap();
        hashes.insert(report.trace_hash());
        orders.insert(order.clone());
        order.sort_unstable();
        let all: Vec<_> = (0..4)
            .flat_map(|from| (0..4).map(move |to| (from, to)))
            .collect();
        assert_eq!(order, all, "seed {seed}");
    }
    assert_eq!(hashes.len(), 10);
    assert!(orders.len() > 1, "every seed gave one order");
}

// proves: RT-22
#[test]
fn virtual_time_jumps_over_idle_hours() {
    let started = std::time::Instant::now();
    let day = Duration::from_secs(86_400);
    let main = move || async move {
        let before = Instant::now();
        let there = corelane::shards()[1].clone();
        there
            .submit(move || async move { sleep(day).await })
            .await
            .unwrap();
        before.elapsed()
    };
    let (slept, report) = shards(2).simulate(1, main).unwrap();
    assert!(slept >= day);
    assert!(slept < day + Duration::from_millis(1), "{slept:?}");
    assert!(report.elapsed() >= slept);
    assert!(started.elapsed() < day / 2);
}

#[test]
fn run_with_the_driver_of_a_seed_simulates() {
    let elapsed = shards(1).driver(Driver::Sim(3)).run(|| async {
        let before = Instant::now();
        sleep(Duration::from_secs(3600)).await;
        before.elapsed()
    });
    assert!(elapsed.unwrap() >= Duration::from_secs(3600));
}

#[test]
fn wait_without_an_end_is_told() {
    let stalled = panic_of(|| {
        let ended = shards(2).simulate(5, std::future::pending::<()>);
        unreachable!("{ended:?}");
    });
    assert!(
        stalled.starts_with("simulation stalled: every shard waits for ever"),
        "{stalled}"
    );
    assert!(stalled.contains("seed 5"), "{stalled}");
}

#[test]
fn task_that_yields_sees_time_pass_and_lets_others_run() {
    let turns = Rc::new(Cell::new(0_u64));
    let counted = Rc::clone(&turns);
    let main = move || async move {
        let spinner = spawn(async move {
            loop {
                counted.set(counted.get() + 1);
                task::yield_now().await;
            }
        });
        sleep(Duration::from_millis(1)).await;
        spinner.abort();
    };
    shards(1).simulate(1, main).unwrap();
    assert!(turns.get() > 10);
}

#[test]
fn panic_of_main_comes_out_and_drops_what_is_left() {
    let token = Rc::new(());
    let (kept, watched) = (Rc::clone(&token), Rc::clone(&token));
    let panic = panic_of(move || {
        let main = move || async move {
            spawn(async move {
                let _kept = kept;
                std::future::pending::<()>().await;
            })
            .detach();
            task::yield_now().await;
            panic!("on purpose");
        };
        shards(2).simulate(1, main).unwrap();
    });
    assert_eq!(panic, "on purpose");
    assert_eq!(Rc::strong_count(&watched), 2, "the token and its watch");
    drop(token);
}

#[test]
fn panic_of_a_call_is_its_result() {
    let main = || async {
        let there = corelane::shards()[1].clone();
        there.submit(|| async { panic!("over there") }).await
    };
    let (result, _): (Result<(), _>, _) = shards(2).simulate(1, main).unwrap();
    assert!(
        matches!(result, Err(SubmitError::Panicked(_))),
        "{result:?}"
    );
}

// proves: RT-24
#[test]
fn every_seed_runs_and_a_failing_one_is_told() {
    sim::for_seeds(&shards(2), 5, async || {
        sleep(Duration::from_millis(1)).await;
    });
    let panic = panic_of(|| {
        sim::for_seeds(&shards(2), 5, async || panic!("every seed fails"));
    });
    assert_eq!(panic, "every seed fails");
}

#[test]
fn test_that_depends_on_more_than_its_seed_is_refused() {
    let runs = Rc::new(Cell::new(0_u64));
    let refused = panic_of(|| {
        sim::for_seeds(&shards(1), 5, move || {
            let runs = Rc::clone(&runs);
            async move {
                runs.set(runs.get() + 1);
                sim::note(runs.get());
            }
        });
    });
    assert!(
        refused.contains("the test is not reproducible"),
        "{refused}"
    );
}
