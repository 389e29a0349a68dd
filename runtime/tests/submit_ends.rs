//! How calls end: with an answer, or with the reason why there is none; dropped at any stage, what
//! they hold is dropped once, and where it belongs.
#![allow(clippy::unwrap_used)]

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::Poll;
use std::time::Duration;

use corelane::task::yield_now;
use corelane::{Builder, IdlePolicy, Placement, Runtime, Shard, SubmitError, shard, shards};

const LIMIT: Duration = Duration::from_secs(30);

/// Something that a call holds: its drop leaves the index of the shard it happens on.
struct Held(Drops);

type Drops = Arc<Mutex<Vec<usize>>>;

impl Drop for Held {
    fn drop(&mut self) {
        self.0.lock().unwrap().push(shard().index());
    }
}

/// A caller that would spin looks for its answer in its first poll.
fn parks(builder: Builder) -> Builder {
    builder.idle(IdlePolicy::Park)
}

fn held() -> (Held, Drops) {
    let drops = Drops::default();
    (Held(Arc::clone(&drops)), drops)
}

/// Waits until something was dropped, and says where.
async fn dropped_on(drops: &Drops) -> Vec<usize> {
    for _ in 0..10_000_000 {
        let seen = drops.lock().unwrap().clone();
        if !seen.is_empty() {
            return seen;
        }
        yield_now().await;
    }
    panic!("nothing was dropped");
}

/// A call to each shard, this one too, so that both kinds of call are tried.
async fn turn_around(target: &Shard) {
    for _ in 0..3 {
        target.submit(yield_now).await.unwrap();
    }
}

// proves: RT-8
#[corelane::test(shards = 2, uring, epoll, sim)]
async fn call_dropped_before_it_is_sent_off_drops_its_captures_on_the_target() {
    for target in shards().iter() {
        let (held, drops) = held();
        let call = target.submit(move || async move { drop(held) });
        // Nothing has left this shard yet: that happens after this poll.
        drop(call);
        assert_eq!(dropped_on(&drops).await, [target.index()]);
        turn_around(target).await;
        assert_eq!(drops.lock().unwrap().len(), 1);
    }
}

// proves: RT-8
#[corelane::test(shards = 2, uring, epoll, sim)]
async fn call_dropped_while_it_runs_drops_its_future_between_polls() {
    for target in shards().iter() {
        let (held, drops) = held();
        let polls = Arc::new(AtomicU64::new(0));
        let call = target.submit({
            let polls = Arc::clone(&polls);
            move || async move {
                let _held = held;
                poll_fn(|_| {
                    polls.fetch_add(1, Ordering::Relaxed);
                    Poll::<()>::Pending
                })
                .await;
            }
        });
        while polls.load(Ordering::Relaxed) == 0 {
            yield_now().await;
        }
        assert!(drops.lock().unwrap().is_empty());
        drop(call);
        assert_eq!(dropped_on(&drops).await, [target.index()]);
        turn_around(target).await;
        assert_eq!(polls.load(Ordering::Relaxed), 1, "it was not polled again");
        assert_eq!(drops.lock().unwrap().len(), 1);
    }
}

// proves: RT-8
#[corelane::test(shards = 2, with = parks, uring, epoll, sim)]
async fn call_dropped_when_it_has_its_answer_drops_the_answer_here() {
    for target in shards().iter() {
        let (held, drops) = held();
        let mut call = target.submit(move || async move { held });
        turn_around(target).await;
        assert!(drops.lock().unwrap().is_empty());
        drop(call);
        assert_eq!(*drops.lock().unwrap(), [shard().index()]);
        // The same after a poll that has registered a waker.
        let (held, drops) = self::held();
        call = target.submit(move || async move { held });
        let first = poll_fn(|cx| Poll::Ready(pin!(&mut call).poll(cx).is_pending())).await;
        assert!(first);
        turn_around(target).await;
        drop(call);
        assert_eq!(*drops.lock().unwrap(), [shard().index()]);
    }
}

// proves: RT-8
#[corelane::test(shards = 2)]
async fn dropping_a_call_never_waits_for_its_target() {
    let there = shards()[1].clone();
    let (release, released) = mpsc::channel();
    let (enter, entered) = mpsc::channel();
    let occupied = there.submit(move || async move {
        enter.send(()).unwrap();
        released.recv_timeout(LIMIT).is_ok()
    });
    // One is on its way, one in the lane, and one runs, while the target does nothing else.
    while entered.try_recv().is_err() {
        yield_now().await;
    }
    let (on_its_way, drops) = held();
    let unpolled = there.submit(move || async move { drop(on_its_way) });
    yield_now().await;
    let (other, others) = held();
    let unsent = there.submit(move || async move { drop(other) });
    drop(unpolled);
    drop(unsent);
    assert!(drops.lock().unwrap().is_empty() && others.lock().unwrap().is_empty());
    release.send(()).unwrap();
    assert!(occupied.await.unwrap(), "the drops waited for the target");
    assert_eq!(dropped_on(&drops).await, [1]);
    assert_eq!(dropped_on(&others).await, [1]);
}

// proves: RT-8
#[corelane::test(shards = 2, uring, epoll, sim)]
async fn panic_in_any_part_of_a_call_is_its_answer() {
    struct PanicsInDrop;
    impl Drop for PanicsInDrop {
        fn drop(&mut self) {
            panic!("in the drop");
        }
    }
    for target in shards().iter() {
        let in_call = target.submit(|| -> std::future::Ready<()> { panic!("in the call") });
        let in_poll = target.submit(|| async { panic!("in the poll") });
        let later = target.submit(|| async {
            yield_now().await;
            panic!("later");
        });
        for (call, said) in [(in_poll, "in the poll"), (later, "later")] {
            let error = call.await.unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("the submitted call panicked: {said}")
            );
        }
        let error = in_call.await.unwrap_err();
        assert!(matches!(error, SubmitError::Panicked(_)), "{error}");
        let in_drop = target.submit(|| {
            let bomb = PanicsInDrop;
            poll_fn(move |_| {
                let _bomb = &bomb;
                Poll::Ready(())
            })
        });
        let error = in_drop.await.unwrap_err();
        assert!(matches!(error, SubmitError::Panicked(_)), "{error}");
        assert_eq!(target.submit(|| async { 7 }).await.unwrap(), 7);
    }
}

// proves: RT-8
#[corelane::test(shards = 2)]
async fn call_from_a_shard_of_another_runtime_says_that_the_shard_is_gone() {
    let other = std::thread::spawn(|| {
        Runtime::builder()
            .placement(Placement::Unpinned(1))
            .run(async || shard())
    });
    let gone = other.join().unwrap().unwrap();
    let (held, drops) = {
        let drops = Drops::default();
        (Held(Arc::clone(&drops)), drops)
    };
    let call = gone.submit(move || async move { drop(held) });
    assert!(matches!(call.await, Err(SubmitError::ShardGone)));
    assert_eq!(drops.lock().unwrap().len(), 1);
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// What a soak has made and seen dropped.
#[derive(Default)]
struct Count {
    dropped: AtomicU64,
    misplaced: AtomicU64,
}

/// A capture that belongs on one shard.
struct Counted(Arc<Count>, usize);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::Relaxed);
        if shard().index() != self.1 {
            self.0.misplaced.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Sends calls of all kinds to `target` and gives up some of them at random times.
async fn soak(target: Shard, calls: u64, seed: u64) {
    let count = Arc::new(Count::default());
    let mut dice = Dice(seed);
    let mut under_way = Vec::new();
    for number in 0..calls {
        let held = Counted(Arc::clone(&count), target.index());
        let yields = dice.below(4);
        let call = target.submit(move || async move {
            let _held = held;
            for _ in 0..yields {
                yield_now().await;
            }
            if yields == 3 && number % 5 == 0 {
                pending::<()>().await;
            }
            number
        });
        match dice.below(4) {
            0 => drop(call),
            _ => under_way.push((number, yields == 3 && number % 5 == 0, call)),
        }
        if under_way.len() < 64 {
            continue;
        }
        for (number, endless, call) in under_way.drain(..) {
            if endless || dice.below(3) == 0 {
                drop(call);
            } else {
                assert_eq!(call.await.unwrap(), number);
            }
        }
    }
    drop(under_way);
    for _ in 0..10_000_000 {
        if count.dropped.load(Ordering::Relaxed) == calls {
            break;
        }
        yield_now().await;
    }
    turn_around(&target).await;
    assert_eq!(count.dropped.load(Ordering::Relaxed), calls);
    assert_eq!(count.misplaced.load(Ordering::Relaxed), 0);
}

// proves: RT-8
#[corelane::test(shards = 2)]
async fn calls_both_ways_with_random_cancels_end_once_each() {
    let (here, there) = (shard(), shards()[1].clone());
    let back = there.submit(move || soak(here, 100_000, 11));
    soak(there, 100_000, 7).await;
    back.await.unwrap();
}

// proves: RT-8
#[corelane::test(shards = 3, sim, seeds = 8)]
async fn simulated_calls_with_random_cancels_end_once_each() {
    let (here, there) = (shard(), shards()[2].clone());
    let back = there.submit(move || soak(here, 2_000, 11));
    soak(there, 2_000, 7).await;
    back.await.unwrap();
}
