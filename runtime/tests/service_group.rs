//! Bounds on what a caller has in flight, and groups that nest.
#![allow(clippy::unwrap_used)]

use std::future::{pending, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::Poll;
use std::time::Duration;

use corelane::metrics::snapshot;
use corelane::task::yield_now;
use corelane::{Builder, ServiceGroup, Shard, SubmitError, shard, shards};
use thread_aware::ThreadAware;
use thread_aware::affinity::Affinity;

/// How many calls run on a target now, and the most that ever did.
#[derive(Clone, Default)]
struct Load {
    now: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

/// One call that runs, from its start to its drop.
struct Running(Load);

impl Running {
    fn new(load: Load) -> Self {
        let now = load.now.fetch_add(1, Ordering::Relaxed) + 1;
        load.most.fetch_max(now, Ordering::Relaxed);
        Self(load)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Polls once, and tells whether it is ready.
async fn is_ready<F: Future + Unpin>(future: &mut F) -> bool {
    poll_fn(|cx| Poll::Ready(pin!(&mut *future).poll(cx).is_ready())).await
}

// proves: RT-9
#[corelane::test(shards = 2, uring, epoll, sim, seeds = 8)]
async fn caller_has_at_most_the_limit_in_flight_on_each_target() {
    for limit in [1, 3, 8] {
        let group = ServiceGroup::new(limit);
        let loads: Vec<_> = shards().iter().map(|_| Load::default()).collect();
        let tasks: Vec<_> = (0..200)
            .map(|number| {
                let target = shards()[number % 2].clone();
                let load = loads[number % 2].clone();
                corelane::spawn(async move {
                    let call = group.submit(&target, move || async move {
                        let _running = Running::new(load);
                        for _ in 0..number % 5 {
                            yield_now().await;
                        }
                        number
                    });
                    assert_eq!(call.await.unwrap(), number);
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        for (target, load) in shards().iter().zip(&loads) {
            let most = load.most.load(Ordering::Relaxed);
            assert!(0 < most && most <= limit, "{most} of {limit}");
            assert_eq!(group.in_flight(target), 0);
        }
    }
}

// proves: RT-9
#[corelane::test(shards = 2, uring, epoll, sim, seeds = 8)]
async fn waiting_calls_go_in_their_order_whoever_polls_them() {
    let group = ServiceGroup::new(2);
    let there = shards()[1].clone();
    let order = Arc::new(Mutex::new(Vec::new()));
    let calls: Vec<_> = (0..50)
        .map(|number| {
            let order = Arc::clone(&order);
            group.submit(&there, move || async move {
                order.lock().unwrap().push(number);
                yield_now().await;
            })
        })
        .collect();
    assert_eq!(group.in_flight(&there), 2);
    // The last one is polled first, and the first one, which has a credit, last.
    for call in calls.into_iter().rev() {
        call.await.unwrap();
    }
    assert_eq!(*order.lock().unwrap(), Vec::from_iter(0..50));
}

// proves: RT-9
#[corelane::test(shards = 2, uring, epoll, sim, seeds = 8)]
async fn cancelled_call_is_in_flight_until_its_target_has_dropped_it() {
    let group = ServiceGroup::new(1);
    for target in shards().iter() {
        let load = Load::default();
        for round in 0..20 {
            let running = load.clone();
            let mut call = group.submit(target, move || async move {
                let _running = Running::new(running);
                pending::<()>().await;
            });
            for _ in 0..round % 4 {
                assert!(!is_ready(&mut call).await);
                yield_now().await;
            }
            assert!(group.in_flight(target) <= 1);
            drop(call);
        }
        let last = load.clone();
        let call = group.submit(target, move || async move {
            let _running = Running::new(last);
        });
        call.await.unwrap();
        assert_eq!(load.now.load(Ordering::Relaxed), 0);
        assert!(load.most.load(Ordering::Relaxed) <= 1);
        assert_eq!(group.in_flight(target), 0);
    }
}

/// Waits until `count` is not 0.
async fn begun(count: &AtomicUsize) {
    for _ in 0..10_000_000 {
        if count.load(Ordering::Relaxed) > 0 {
            return;
        }
        yield_now().await;
    }
    panic!("it never began");
}

// proves: RT-9
#[corelane::test(shards = 2, uring, epoll)]
async fn cancelled_call_keeps_its_credit_while_its_target_is_busy() {
    let group = ServiceGroup::new(1);
    let there = shards()[1].clone();
    let (load, occupied) = (Load::default(), Load::default());
    let running = load.clone();
    let first = group.submit(&there, move || async move {
        let _running = Running::new(running);
        pending::<()>().await;
    });
    begun(&load.now).await;
    let (release, released) = mpsc::channel::<()>();
    let busy = occupied.clone();
    let occupier = there.submit(move || async move {
        let _running = Running::new(busy);
        // A sender that is gone releases too.
        let _ = released.recv_timeout(Duration::from_secs(30));
    });
    begun(&occupied.now).await;
    drop(first);
    for _ in 0..100 {
        yield_now().await;
        assert_eq!(group.in_flight(&there), 1);
    }
    let left = load.clone();
    let mut next = group.submit(
        &there,
        move || async move { left.now.load(Ordering::Relaxed) },
    );
    assert!(!is_ready(&mut next).await);
    drop(release);
    assert_eq!(
        next.await.unwrap(),
        0,
        "the target dropped the first one before"
    );
    occupier.await.unwrap();
    assert_eq!(group.in_flight(&there), 0);
}

// proves: RT-9
#[corelane::test(shards = 2, uring, epoll, sim, seeds = 8)]
async fn call_that_gives_up_waiting_sends_nothing_and_passes_its_credit_on() {
    let group = ServiceGroup::new(1);
    let there = shards()[1].clone();
    let sent = Arc::new(AtomicUsize::new(0));
    let mut calls: Vec<_> = (0..4)
        .map(|number| {
            let sent = Arc::clone(&sent);
            group.submit(&there, move || async move {
                sent.fetch_or(1 << number, Ordering::Relaxed);
            })
        })
        .collect();
    let captures = Arc::strong_count(&sent);
    let mut last = calls.pop().unwrap();
    let mut second = calls.remove(1);
    let mut third = calls.remove(1);
    for call in [&mut second, &mut third, &mut last] {
        assert!(!is_ready(call).await);
    }
    // One in the queue goes; then the first answer gives its credit to another, which goes too.
    drop(third);
    for _ in 0..10_000_000 {
        if Arc::strong_count(&sent) < captures {
            break;
        }
        yield_now().await;
    }
    assert!(Arc::strong_count(&sent) < captures);
    calls.remove(0).await.unwrap();
    drop(second);
    last.await.unwrap();
    // The second may have been sent before it was dropped; the third never had a credit.
    assert_eq!(sent.load(Ordering::Relaxed) & !0b10, 0b1001);
    assert_eq!(Arc::strong_count(&sent), 1);
    assert_eq!(group.in_flight(&there), 0);
}

// proves: RT-9
#[corelane::test(shards = 2, uring, epoll, sim, seeds = 4)]
async fn failed_calls_give_their_credits_back() {
    let group = ServiceGroup::new(1);
    for target in shards().iter() {
        for _ in 0..3 {
            let error = group.submit(target, || async { panic!("no") }).await;
            assert!(matches!(error, Err::<(), _>(SubmitError::Panicked(_))));
        }
        assert_eq!(group.in_flight(target), 0);
        assert_eq!(group.submit(target, || async { 7 }).await.unwrap(), 7);
    }
}

/// Calls to `there` whose calls call back, each in the next group, until none is left.
async fn nest(groups: Rc<[ServiceGroup]>, there: Shard, calls: usize) -> usize {
    let tasks: Vec<_> = (0..calls)
        .map(|_| corelane::spawn(descend(groups.to_vec(), there.clone())))
        .collect();
    let mut sum = 0;
    for task in tasks {
        sum += task.await.unwrap();
    }
    sum
}

/// One call for each group, back and forth; answers with how many there were.
async fn descend(mut groups: Vec<ServiceGroup>, to: Shard) -> usize {
    if groups.is_empty() {
        return 0;
    }
    let back = shard();
    let group = groups.remove(0);
    let call = group.submit(&to, move || async move {
        let deeper: std::pin::Pin<Box<dyn Future<Output = usize>>> =
            Box::pin(descend(groups, back));
        1 + deeper.await
    });
    call.await.unwrap()
}

async fn nest_both_ways(limit: usize, calls: usize) {
    let groups: Vec<_> = (0..4).map(|_| ServiceGroup::new(limit)).collect();
    let (here, there) = (shard(), shards()[1].clone());
    let other = there.submit({
        let groups = groups.clone();
        move || nest(groups.into(), here, calls)
    });
    assert_eq!(nest(groups.into(), there, calls).await, calls * 4);
    assert_eq!(other.await.unwrap(), calls * 4);
}

fn two_slots(builder: Builder) -> Builder {
    builder.lane_capacity(2)
}

// proves: RT-9
#[corelane::test(shards = 2, with = two_slots, uring, epoll)]
async fn groups_nested_in_order_never_wait_for_each_other_for_ever() {
    nest_both_ways(1, 200).await;
    nest_both_ways(2, 200).await;
}

// proves: RT-9
#[corelane::test(shards = 2, with = two_slots, sim, seeds = 32)]
async fn simulated_groups_nested_in_order_never_wait_for_each_other_for_ever() {
    nest_both_ways(1, 50).await;
}

// proves: RT-9
#[cfg(debug_assertions)]
#[corelane::test(shards = 2, uring, epoll, sim, seeds = 2)]
async fn nested_call_in_the_same_or_an_older_group_is_refused_with_the_rule() {
    let (older, newer) = (ServiceGroup::new(4), ServiceGroup::new(4));
    for target in shards().iter() {
        for (outer, inner) in [(newer, older), (older, older), (newer, newer)] {
            let back = shard();
            let call = outer.submit(target, move || async move {
                yield_now().await;
                inner.submit(&back, || async {}).await
            });
            let error = call.await.unwrap_err().to_string();
            assert!(error.contains("in the order of their making"), "{error}");
            // Also by way of a plain call, and in the closure itself.
            let back = shard();
            let call = outer.submit(target, move || {
                back.submit(move || async move { inner.submit(&shard(), || async {}).await })
            });
            let error = call.await.unwrap().unwrap_err().to_string();
            assert!(error.contains("in the order of their making"), "{error}");
        }
        // What a call spawns stands for itself, and after all of it the rank is nobody's.
        let call = newer.submit(target, move || async move {
            let spawned =
                corelane::spawn(async move { older.submit(&shard(), || async { 3 }).await });
            spawned.await.unwrap()
        });
        assert_eq!(call.await.unwrap().unwrap(), 3);
        assert_eq!(older.submit(target, || async { 4 }).await.unwrap(), 4);
    }
}

/// Counts its relocations.
struct Probe(usize);

impl ThreadAware for Probe {
    fn relocate(&mut self, _: Option<Affinity>, destination: Affinity) {
        assert_eq!(destination, shard().affinity());
        self.0 += 1;
    }
}

// proves: RT-10
#[corelane::test(shards = 2, uring, epoll, sim, seeds = 4)]
async fn data_of_a_call_in_a_group_is_relocated_once_whether_it_waited_or_not() {
    let group = ServiceGroup::new(1);
    let there = shards()[1].clone();
    let calls: Vec<_> = (0..10)
        .map(|_| group.submit_with(&there, Probe(0), |probe| async move { probe.0 }))
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), 1);
    }
    assert_eq!(snapshot().shards[1].relocations, 10);
}

// proves: RT-9
#[test]
fn shards_of_another_runtime_have_no_calls_of_a_group() {
    let two = || corelane::Runtime::builder().placement(corelane::Placement::Unpinned(2));
    let other = two().start().unwrap();
    let foreign = other.shard(1).submit(|| async { shard() }).wait().unwrap();
    let counts = two().run(|| async move {
        let group = ServiceGroup::new(1);
        let _call = group.submit(&shards()[1], pending::<()>);
        (group.in_flight(&shards()[1]), group.in_flight(&foreign))
    });
    assert_eq!(counts.unwrap(), (1, 0));
}

// proves: RT-9
#[test]
fn calls_in_a_group_that_a_shutdown_finds_are_dropped_with_their_tasks() {
    let left = Arc::new(AtomicUsize::new(0));
    corelane::Runtime::builder()
        .placement(corelane::Placement::Unpinned(2))
        .run({
            let left = Arc::clone(&left);
            || async move {
                let group = ServiceGroup::new(2);
                for target in shards().iter() {
                    for _ in 0..10 {
                        let (target, left) = (target.clone(), Arc::clone(&left));
                        corelane::spawn(async move {
                            let call = group.submit(&target, move || async move {
                                let _left = left;
                                pending::<()>().await;
                            });
                            let _ = call.await;
                        })
                        .detach();
                    }
                }
                shards()[1].submit(yield_now).await.unwrap();
                assert_eq!(group.in_flight(&shards()[1]), 2);
            }
        })
        .unwrap();
    assert_eq!(Arc::strong_count(&left), 1);
}
