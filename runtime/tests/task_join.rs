//! Tasks and their handles, on one shard.
#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;

use corelane::task::yield_now;
use corelane::{JoinError, Runtime, spawn};

fn run<T: 'static>(main: impl Future<Output = T> + 'static) -> T {
    Runtime::builder().shards(1).run(|| main).unwrap()
}

#[test]
fn handle_gives_the_output() {
    assert_eq!(run(async { spawn(async { 42 }).await.unwrap() }), 42);
}

#[test]
fn tasks_run_in_the_order_of_their_wakes() {
    let order = run(async {
        let order = Rc::new(Cell::new(Vec::new()));
        let tasks: Vec<_> = (0..4)
            .map(|number| {
                let order = Rc::clone(&order);
                spawn(async move {
                    for round in 0..3 {
                        let mut so_far = order.take();
                        so_far.push((round, number));
                        order.set(so_far);
                        yield_now().await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        order.take()
    });
    let expected: Vec<_> = (0..3)
        .flat_map(|round| (0..4).map(move |number| (round, number)))
        .collect();
    assert_eq!(order, expected);
}

// proves: RT-18
#[test]
fn panic_of_a_task_is_its_handles_error() {
    run(async {
        let panicked = spawn(async { panic!("the reason") });
        let fine = spawn(async { 1 });
        let error = panicked.await.unwrap_err();
        assert!(matches!(error, JoinError::Panicked(_)));
        assert_eq!(error.to_string(), "the task panicked: the reason");
        assert_eq!(fine.await.unwrap(), 1);
    });
}

#[test]
fn aborted_task_drops_its_future_and_says_cancelled() {
    run(async {
        let held = Rc::new(());
        let task = spawn({
            let held = Rc::clone(&held);
            async move {
                let _held = held;
                pending::<()>().await;
            }
        });
        yield_now().await;
        assert_eq!(Rc::strong_count(&held), 2);
        task.abort();
        assert!(matches!(task.await, Err(JoinError::Cancelled)));
        assert_eq!(Rc::strong_count(&held), 1);
    });
}

#[test]
fn detached_task_goes_on() {
    run(async {
        let done = Rc::new(Cell::new(false));
        spawn({
            let done = Rc::clone(&done);
            async move {
                yield_now().await;
                done.set(true);
            }
        })
        .detach();
        for _ in 0..4 {
            yield_now().await;
        }
        assert!(done.get());
    });
}

#[test]
fn tasks_left_at_the_end_are_dropped_once() {
    struct Count(Rc<Cell<u32>>);
    impl Drop for Count {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    let drops = Rc::new(Cell::new(0));
    run({
        let drops = Rc::clone(&drops);
        async move {
            for _ in 0..100 {
                let count = Count(Rc::clone(&drops));
                spawn(async move {
                    let _count = count;
                    pending::<()>().await;
                })
                .detach();
            }
            yield_now().await;
        }
    });
    assert_eq!(drops.get(), 100);
}

#[test]
#[should_panic(expected = "main's own")]
fn panic_of_main_is_the_callers() {
    run(async { panic!("main's own") })
}
