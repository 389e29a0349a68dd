//! Values that stay at home while their handles travel.
#![allow(clippy::unwrap_used)]

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

use corelane::task::yield_now;
use corelane::{
    Builder, IdlePolicy, Placement, Remote, Runtime, Shard, SubmitError, shard, shards,
};

/// Where values were dropped: the shard, and its thread.
type Drops = Arc<Mutex<Vec<(usize, ThreadId)>>>;

/// A value that must not leave its thread, and says where it ends.
struct Resident {
    drops: Drops,
    not_send: Rc<Cell<u64>>,
}

impl Drop for Resident {
    fn drop(&mut self) {
        let place = (shard().index(), thread::current().id());
        self.drops.lock().unwrap().push(place);
    }
}

fn resident(drops: &Drops) -> Remote<Resident> {
    Remote::new(Resident {
        drops: Arc::clone(drops),
        not_send: Rc::default(),
    })
}

/// Waits until `count` values were dropped, and says where.
async fn dropped(drops: &Drops, count: usize) -> Vec<(usize, ThreadId)> {
    for _ in 0..10_000_000 {
        let seen = drops.lock().unwrap().clone();
        if seen.len() >= count {
            assert_eq!(seen.len(), count);
            return seen;
        }
        yield_now().await;
    }
    panic!("the value was not dropped");
}

/// The thread of a shard.
async fn thread_of(shard: &Shard) -> ThreadId {
    let id = shard.submit(|| async { thread::current().id() });
    id.await.unwrap()
}

fn parks(builder: Builder) -> Builder {
    builder.idle(IdlePolicy::Park)
}

// proves: RT-9
#[corelane::test(shards = 3, with = parks, uring, epoll, sim, seeds = 8)]
async fn value_is_dropped_at_home_whichever_shard_drops_its_last_handle() {
    for home in shards().iter() {
        for last in shards().iter() {
            let drops = Drops::default();
            let value = home.submit({
                let drops = Arc::clone(&drops);
                move || async move { resident(&drops) }
            });
            let (value, first) = {
                let value = value.await.unwrap();
                (value.clone(), value)
            };
            assert_eq!(value.home(), *home);
            drop(first);
            assert!(drops.lock().unwrap().is_empty(), "a handle is left");
            let expected = (home.index(), thread_of(home).await);
            last.submit_with(value, |value| async { drop(value) })
                .await
                .unwrap();
            // From here on nobody but the drop wakes the home.
            assert_eq!(dropped(&drops, 1).await, [expected]);
        }
    }
}

// proves: RT-9
#[corelane::test(shards = 2, with = parks, uring, epoll)]
async fn value_is_dropped_at_home_when_a_plain_thread_drops_its_last_handle() {
    for home in shards().iter() {
        let drops = Drops::default();
        let value = home.submit({
            let drops = Arc::clone(&drops);
            move || async move { resident(&drops) }
        });
        let value = value.await.unwrap();
        let expected = (home.index(), thread_of(home).await);
        let plain = thread::spawn(move || drop(value));
        // From here on nobody but the drop wakes the home.
        assert_eq!(dropped(&drops, 1).await, [expected]);
        plain.join().unwrap();
    }
}

// proves: RT-9
#[corelane::test(shards = 2, uring, epoll, sim, seeds = 8)]
async fn calls_run_at_home_and_keep_the_value() {
    for home in shards().iter() {
        let drops = Drops::default();
        let value = home.submit({
            let drops = Arc::clone(&drops);
            move || async move { resident(&drops) }
        });
        let value = value.await.unwrap();
        let index = home.index();
        let added = value.with(move |value| {
            assert_eq!(shard().index(), index);
            value.not_send.set(value.not_send.get() + 1);
            value.not_send.get()
        });
        let waited = value.invoke(|value| async move {
            for _ in 0..5 {
                yield_now().await;
            }
            assert!(value.drops.lock().unwrap().is_empty());
            shard().index()
        });
        assert_eq!(value.get().is_some(), *home == shard());
        drop(value);
        assert_eq!(added.await.unwrap(), 1);
        assert_eq!(waited.await.unwrap(), index);
        assert_eq!(dropped(&drops, 1).await[0].0, index);
    }
}

// proves: RT-9
#[test]
fn home_that_ends_drops_its_values_and_handles_that_are_left_stand_for_nothing() {
    let drops = Drops::default();
    let left = Runtime::builder()
        .placement(Placement::Unpinned(2))
        .run({
            let drops = Arc::clone(&drops);
            || async move {
                let there = shards()[1].clone();
                let more = Arc::clone(&drops);
                let there = there.submit(move || async move { resident(&more) });
                // One that only a task of the other shard holds goes too.
                let mine = resident(&drops);
                shards()[1]
                    .submit(|| async move {
                        corelane::spawn(async move {
                            let _mine = mine;
                            std::future::pending::<()>().await;
                        })
                        .detach();
                    })
                    .await
                    .unwrap();
                [there.await.unwrap(), resident(&drops)]
            }
        })
        .unwrap();
    let mut homes: Vec<_> = drops.lock().unwrap().iter().map(|place| place.0).collect();
    homes.sort_unstable();
    assert_eq!(homes, [0, 0, 1]);
    for value in left {
        assert!(value.get().is_none());
        let call = value.with(|value| value.not_send.get());
        let mut call = std::pin::pin!(call);
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        let std::task::Poll::Ready(answer) = call.as_mut().poll(&mut cx) else {
            panic!("a shard that has ended answers at once");
        };
        assert!(matches!(answer, Err(SubmitError::ShardGone)));
        drop(value);
    }
    assert_eq!(drops.lock().unwrap().len(), 3);
    // The handles are gone, and with them the last that knew of the values.
    assert_eq!(Arc::strong_count(&drops), 1);
}

/// Panics when it is dropped.
struct Bomb(Arc<Mutex<usize>>);

impl Drop for Bomb {
    fn drop(&mut self) {
        *self.0.lock().unwrap() += 1;
        panic!("in the drop");
    }
}

// proves: RT-9
#[corelane::test(shards = 2, uring, epoll, sim, seeds = 2)]
async fn drop_that_panics_at_home_is_nobody_elses_panic() {
    let there = shards()[1].clone();
    let drops = Arc::new(Mutex::new(0));
    let value = Remote::new(Bomb(Arc::clone(&drops)));
    there
        .submit(move || async move { drop(value) })
        .await
        .unwrap();
    for _ in 0..10_000_000 {
        if *drops.lock().unwrap_or_else(|broken| broken.into_inner()) == 1 {
            break;
        }
        yield_now().await;
    }
    assert_eq!(
        *drops.lock().unwrap_or_else(|broken| broken.into_inner()),
        1
    );
    assert_eq!(there.submit(|| async { 7 }).await.unwrap(), 7);
}

/// Makes values, and drops those that other shards have made.
async fn exchange(rounds: usize, drops: Drops) {
    let all = shards();
    let here = shard().index();
    for round in 0..rounds {
        let values: Vec<_> = (0..16).map(|_| resident(&drops)).collect();
        let to = &all[(here + 1 + round % (all.len() - 1)) % all.len()];
        let sent = to.submit(move || async move {
            let used = values[0].with(|value| value.not_send.get());
            drop(values);
            used.await
        });
        if round % 3 > 0 {
            assert_eq!(sent.await.unwrap().unwrap(), 0);
        }
    }
}

async fn exchange_on_all(rounds: usize) {
    let drops = Drops::default();
    let calls: Vec<_> = shards()
        .iter()
        .map(|shard| {
            let drops = Arc::clone(&drops);
            shard.submit(move || exchange(rounds, drops))
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    let count = shards().len();
    let places = dropped(&drops, rounds * 16 * count).await;
    for home in shards().iter() {
        let place = (home.index(), thread_of(home).await);
        let at_home = places.iter().filter(|&&dropped| dropped == place).count();
        assert_eq!(at_home, rounds * 16);
    }
}

// proves: RT-9
#[corelane::test(shards = 2, uring, epoll)]
async fn every_value_of_many_is_dropped_once_at_home() {
    exchange_on_all(3_000).await;
}

// proves: RT-9
#[corelane::test(shards = 3, sim, seeds = 8)]
async fn every_simulated_value_is_dropped_once_at_home() {
    exchange_on_all(100).await;
}

thread_local! {
    static CHAIN: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Owns another value, on its own or another shard, and gives it up in its drop.
struct Link {
    depth: usize,
    _next: Option<Remote<Link>>,
}

impl Drop for Link {
    fn drop(&mut self) {
        CHAIN.with_borrow_mut(|chain| chain.push(self.depth));
    }
}

#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn value_that_holds_a_handle_gives_it_up_in_its_drop() {
    CHAIN.take();
    let mut last = None;
    for depth in 0..10 {
        last = Some(Remote::new(Link { depth, _next: last }));
    }
    drop(last);
    let expected: Vec<_> = (0..10).rev().collect();
    assert_eq!(CHAIN.take(), expected);
}
