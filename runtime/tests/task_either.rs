//! The first of two futures.
#![allow(clippy::unwrap_used)]

use std::future::{pending, ready};
use std::rc::Rc;
use std::time::Duration;

use corelane::task::{Either, either, yield_now};
use corelane::time::sleep;
use corelane::{shutdown, spawn};

#[corelane::test(shards = 1, uring, epoll, sim, seeds = 4)]
async fn whichever_ends_first_counts_and_the_left_one_when_both_do() {
    let slow = || sleep(Duration::from_secs(3_600));
    let right = either(slow(), ready(2)).await;
    assert_eq!(right, Either::Right(2));
    assert_eq!(either(ready(1), slow()).await, Either::Left(1));
    assert_eq!(either(ready(1), ready(2)).await, Either::Left(1));
    let three = either(slow(), either(pending::<()>(), yield_now())).await;
    assert_eq!(three, Either::Right(Either::Right(())));
}

#[corelane::test(shards = 1, uring, epoll, sim, seeds = 4)]
async fn the_other_one_is_dropped_with_the_answer() {
    let held = Rc::new(());
    let holds = |held: &Rc<()>| {
        let held = Rc::clone(held);
        async move {
            pending::<()>().await;
            drop(held);
        }
    };
    either(holds(&held), yield_now()).await;
    either(yield_now(), holds(&held)).await;
    assert_eq!(Rc::strong_count(&held), 1);
}

#[corelane::test(shards = 1, uring, epoll, sim, seeds = 4)]
async fn a_handle_by_reference_is_waited_for_again() {
    let mut work = spawn(async {
        yield_now().await;
        yield_now().await;
        7
    });
    let mut rounds = 0;
    let seven = loop {
        match either(&mut work, yield_now()).await {
            Either::Left(seven) => break seven.unwrap(),
            Either::Right(()) => rounds += 1,
        }
    };
    assert_eq!(seven, 7);
    assert!(rounds > 0);
}

#[corelane::test(shards = 1, uring, epoll, sim, seeds = 4)]
async fn a_loop_beside_the_shutdown_ends_with_it() {
    let worker = spawn(async {
        let mut rounds = 0;
        while let Either::Right(()) = either(shutdown::wait(), yield_now()).await {
            rounds += 1;
        }
        rounds
    });
    yield_now().await;
    yield_now().await;
    shutdown::trigger();
    assert!(worker.await.unwrap() > 0);
}
