//! Idle shards do nothing, however many there are, and shards with work never sleep.
#![allow(clippy::unwrap_used)]

use std::sync::mpsc;
use std::time::Duration;

use corelane::metrics::{ShardSnapshot, Snapshot, snapshot};
use corelane::task::yield_now;
use corelane::{Builder, Driver, IdlePolicy, Placement, Running, Runtime, StartError, shards};

/// How long idle shards are watched. What is asserted is what they count, not when.
const WATCHED: Duration = Duration::from_millis(200);
/// Turns that are none of the shard's doing: the kernel may end a sleep early, for a signal or for
/// work of its own. One that looks for work turns thousands of times meanwhile.
const STRAY_MAX: u64 = 8;
/// Looks at shards that go to sleep; each gives the processor to them.
const LOOKS_MAX: u32 = 1_000_000;

/// Starts `shards` shards on each driver that is there, with each policy that sleeps.
fn on_each(shards: usize, mut test: impl FnMut(Running)) {
    for driver in [Driver::Uring, Driver::Epoll] {
        for idle in [IdlePolicy::Park, IdlePolicy::default()] {
            let builder = Runtime::builder()
                .placement(Placement::Unpinned(shards))
                .driver(driver)
                .idle(idle)
                .receive_buffers(16);
            match builder.start() {
                Ok(running) => test(running),
                Err(StartError::Driver { .. }) if driver == Driver::Uring => {
                    eprintln!("this machine refuses io_uring");
                }
                Err(error) => panic!("{driver:?} did not start: {error}"),
            }
        }
    }
}

/// Looks until every shard sleeps: its sleep grows from one look to the next, and nothing else.
fn asleep(running: &Running) -> Snapshot {
    let mut before = running.metrics();
    for _ in 0..LOOKS_MAX {
        std::thread::yield_now();
        let now = running.metrics();
        let pairs = now.shards.iter().zip(&before.shards);
        if pairs
            .clone()
            .all(|(now, before)| now.parked > before.parked && now.turns == before.turns)
        {
            return now;
        }
        if pairs.clone().any(|(now, before)| now.turns != before.turns)
            || pairs
                .clone()
                .all(|(now, before)| now.parked > before.parked)
        {
            before = now;
        }
    }
    panic!("the shards do not go to sleep: {before:?}");
}

/// Lets time pass in which this thread does nothing.
fn watch() {
    let (_nobody, nothing) = mpsc::channel::<()>();
    assert!(nothing.recv_timeout(WATCHED).is_err());
}

/// The shards that did more between the two snapshots than wake for once: one that hardly turned,
/// went to sleep or called its driver slept all the time and took nothing of a processor.
fn active(before: &Snapshot, after: &Snapshot) -> Vec<usize> {
    let did = |shard: &ShardSnapshot| [shard.turns, shard.parks, shard.driver_enters];
    let pairs = before.shards.iter().zip(&after.shards);
    pairs
        .filter(|(before, after)| {
            did(after)
                .iter()
                .zip(did(before))
                .any(|(after, before)| after - before > STRAY_MAX)
        })
        .map(|(before, _)| before.shard)
        .collect()
}

// proves: RT-4
#[test]
fn idle_shards_sleep_through_in_meshes_of_2_and_of_64() {
    for count in [2, 64] {
        on_each(count, |running| {
            let before = asleep(&running);
            watch();
            let after = running.metrics();
            assert_eq!(active(&before, &after), Vec::<usize>::new());
            running.shutdown(Duration::ZERO).unwrap();
        });
    }
}

// proves: RT-4
#[test]
fn two_shards_that_talk_leave_the_others_asleep() {
    on_each(64, |running| {
        let before = asleep(&running);
        let calls = running.shard(3).submit(|| async {
            for _ in 0..1_000 {
                shards()[60].submit(|| async {}).await.unwrap();
            }
        });
        calls.wait().unwrap();
        let after = asleep(&running);
        assert_eq!(active(&before, &after), [3, 60]);
        running.shutdown(Duration::ZERO).unwrap();
    });
}

fn parks(builder: Builder) -> Builder {
    builder.idle(IdlePolicy::Park)
}

// proves: RT-4
#[corelane::test(shards = 2, with = parks)]
async fn shard_with_ready_tasks_never_parks() {
    async fn work() -> u64 {
        let parks = || snapshot().shards[corelane::shard().index()].parks;
        let before = parks();
        for _ in 0..100_000 {
            yield_now().await;
        }
        parks() - before
    }
    let there = shards()[1].submit(work);
    assert_eq!(work().await, 0);
    assert_eq!(there.await.unwrap(), 0);
}
