//! Calls with data: it is told of its move once, on the target, before the call gets it.
#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc as StdArc, mpsc};
use std::time::Duration;

use corelane::metrics::snapshot;
use corelane::task::yield_now;
use corelane::{Builder, Placement, Runtime, SubmitError, TrySubmitError, shard, shards};
use thread_aware::affinity::Affinity;
use thread_aware::{Arc, PerCore, ThreadAware, Unaware};

const LIMIT: Duration = Duration::from_secs(30);

/// What one relocation was told, and the shard that it happened on.
type Move = (Option<Affinity>, Affinity, usize);

/// Remembers how it was relocated.
#[derive(Default)]
struct Probe(Vec<Move>);

impl ThreadAware for Probe {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        self.0.push((source, destination, shard().index()));
    }
}

/// Relocations that each shard has counted.
fn relocations() -> Vec<u64> {
    let shards = snapshot().shards;
    shards.iter().map(|shard| shard.relocations).collect()
}

// proves: RT-10
#[corelane::test(shards = 3, uring, epoll, sim, seeds = 8)]
async fn data_is_relocated_once_on_the_target_from_the_caller() {
    for from in shards().iter() {
        for to in shards().iter() {
            let expected = vec![(Some(from.affinity()), to.affinity(), to.index())];
            let to = to.clone();
            let call = from.submit(move || async move {
                let seen = to.submit_with(Probe::default(), |probe| async { probe.0 });
                let tried = to.try_submit_with(Probe::default(), |probe| async { probe.0 });
                (seen.await.unwrap(), tried.unwrap().await.unwrap())
            });
            assert_eq!(call.await.unwrap(), (expected.clone(), expected));
        }
    }
    assert_eq!(relocations(), [6, 6, 6]);
}

// proves: RT-10
#[test]
fn data_from_outside_the_shards_is_relocated_without_a_source() {
    let running = Runtime::builder()
        .placement(Placement::Unpinned(2))
        .start()
        .unwrap();
    let shard = running.shard(1);
    let inside = shard.submit(|| async { corelane::shard() }).wait().unwrap();
    let expected = vec![(None, inside.affinity(), 1)];
    let seen = shard.submit_with(Probe::default(), |probe| async { probe.0 });
    assert_eq!(seen.wait().unwrap(), expected);
    let tried = shard.try_submit_with(Probe::default(), |probe| async { probe.0 });
    assert_eq!(tried.unwrap().wait().unwrap(), expected);
    assert_eq!(running.metrics().shards[1].relocations, 2);
    running.shutdown(LIMIT).unwrap();
}

// proves: RT-10
#[corelane::test(shards = 2, uring, epoll)]
async fn data_from_a_shard_of_another_runtime_has_no_source() {
    let there = shards()[1].clone();
    let expected = vec![(None, there.affinity(), 1)];
    let other = std::thread::spawn(move || {
        Runtime::builder()
            .placement(Placement::Unpinned(1))
            .run(|| async move {
                there
                    .submit_with(Probe::default(), |probe| async { probe.0 })
                    .await
            })
    });
    while !other.is_finished() {
        yield_now().await;
    }
    assert_eq!(other.join().unwrap().unwrap().unwrap(), expected);
}

/// Says when it is dropped, and panics when it is relocated.
struct Refuses(StdArc<AtomicU64>);

impl ThreadAware for Refuses {
    fn relocate(&mut self, _: Option<Affinity>, _: Affinity) {
        panic!("not there");
    }
}

impl Drop for Refuses {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

// proves: RT-10
#[corelane::test(shards = 2, uring, epoll, sim, seeds = 4)]
async fn panic_of_a_relocation_is_the_answer_of_its_call_alone() {
    let drops = StdArc::new(AtomicU64::new(0));
    for target in shards().iter() {
        let data = (Probe::default(), Refuses(StdArc::clone(&drops)));
        let call = target.submit_with(data, |_| async {});
        let error: SubmitError = call.await.unwrap_err();
        assert_eq!(error.to_string(), "the submitted call panicked: not there");
        assert_eq!(target.submit(|| async { 7 }).await.unwrap(), 7);
    }
    assert_eq!(drops.load(Ordering::Relaxed), 2);
    assert_eq!(relocations(), [0, 0]);
}

// proves: RT-10
#[corelane::test(shards = 2, uring, epoll, sim, seeds = 8)]
async fn call_that_is_dropped_before_it_starts_relocates_nothing() {
    let drops = StdArc::new(AtomicU64::new(0));
    for target in shards().iter() {
        let call = target.submit_with(Refuses(StdArc::clone(&drops)), |_| async {});
        // Nothing has left this shard yet: that happens after this poll.
        drop(call);
        target.submit(yield_now).await.unwrap();
    }
    for _ in 0..10_000_000 {
        if drops.load(Ordering::Relaxed) == 2 {
            break;
        }
        yield_now().await;
    }
    assert_eq!(drops.load(Ordering::Relaxed), 2);
    assert_eq!(relocations(), [0, 0]);
}

fn two_slots(builder: Builder) -> Builder {
    builder.lane_capacity(2)
}

// proves: RT-10
#[corelane::test(shards = 2, with = two_slots)]
async fn data_of_a_refused_call_comes_back_as_it_was() {
    let there = shards()[1].clone();
    let (release, released) = mpsc::channel::<()>();
    let occupied = there.submit(move || async move {
        // A sender that is gone releases too.
        let _ = released.recv_timeout(LIMIT);
    });
    let mut taken = Vec::new();
    // Until the shard is occupied it takes calls, a few each turn.
    let refused = loop {
        assert!(taken.len() < 1_000_000, "the lane never filled up");
        match there.try_submit_with(Probe::default(), |probe| async { probe.0 }) {
            Ok(call) => taken.push(call),
            Err(refused) => break refused,
        }
    };
    assert!(matches!(refused, TrySubmitError::Full(_)));
    let (probe, call) = refused.into_call();
    assert_eq!(probe.0, []);
    drop(release);
    occupied.await.unwrap();
    let expected = [(Some(shard().affinity()), there.affinity(), 1)];
    assert_eq!(there.submit_with(probe, call).await.unwrap(), expected);
    for call in taken {
        assert_eq!(call.await.unwrap(), expected);
    }
}

/// A set of values, as programs derive it: each with a part a core.
#[derive(Clone, ThreadAware)]
struct Desk {
    name: String,
    books: Vec<Arc<AtomicU64, PerCore>>,
    #[thread_aware(skip)]
    tag: &'static str,
}

type Nested = (Arc<AtomicU64, PerCore>, Vec<Arc<AtomicU64, PerCore>>, Desk);

/// Adds to every counter in here, on the core that it is for.
fn count(nested: &Nested, by: u64) {
    let desk = nested.2.books.iter();
    for counter in nested.1.iter().chain(desk).chain([&nested.0]) {
        counter.fetch_add(by, Ordering::Relaxed);
    }
}

fn counts((first, list, desk): &Nested) -> Vec<u64> {
    let all = list.iter().chain(&desk.books).chain([first]);
    all.map(|counter| counter.load(Ordering::Relaxed)).collect()
}

// proves: RT-10
#[corelane::test(shards = 3, uring, epoll, sim, seeds = 8)]
async fn three_nested_values_relocate_in_one_call_and_find_their_parts_again() {
    let new = || Arc::<AtomicU64, PerCore>::new(AtomicU64::default);
    let nested: Nested = (
        new(),
        vec![new(), new()],
        Desk {
            name: "fx".into(),
            books: vec![new(), new()],
            tag: "skipped",
        },
    );
    for round in 1..=2 {
        for target in shards().iter() {
            let by = target.index() as u64 + 1;
            let seen = target.submit_with(nested.clone(), move |nested| async move {
                count(&nested, by);
                assert_eq!((&*nested.2.name, nested.2.tag), ("fx", "skipped"));
                counts(&nested)
            });
            // What it left there in the first round is there in the second.
            assert_eq!(seen.await.unwrap(), [round * by; 5]);
        }
        // The values made here are this shard's, as the call to itself has found.
        assert_eq!(counts(&nested), [round; 5]);
    }
    assert_eq!(relocations(), [2, 2, 2]);
}

/// A type that knows nothing of cores.
struct Plain(u32);

// proves: RT-10
#[corelane::test(shards = 2, uring, epoll, sim, seeds = 2)]
async fn value_that_is_unaware_by_choice_travels_as_it_is() {
    let there = shards()[1].clone();
    let data = (Unaware(Plain(7)), Probe::default());
    let seen = there.submit_with(data, |(plain, probe)| async move {
        (plain.into_inner().0, probe.0.len())
    });
    assert_eq!(seen.await.unwrap(), (7, 1));
}
