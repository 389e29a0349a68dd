//! Snapshots say what the shards did.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use corelane::metrics::{ShardSnapshot, snapshot};
use corelane::time::{Instant, sleep};
use corelane::{Builder, IdlePolicy, Placement, Runtime, shards, spawn, task};

/// This shard's counters now.
fn here() -> ShardSnapshot {
    snapshot().shards[corelane::shard().index()].clone()
}

// proves: RT-11
#[corelane::test]
async fn metrics_tell_the_driver_and_why() {
    for (shard, counted) in shards().iter().zip(snapshot().shards) {
        assert_eq!(counted.shard, shard.index());
        assert_eq!(Some(&counted.driver), shard.driver());
        assert!(["uring", "epoll"].contains(&counted.driver.name()));
        let reason = counted.driver.reason();
        assert!(reason.starts_with("asked for by the settings"), "{reason}");
    }
}

// proves: RT-19
#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn tasks_and_polls_are_counted() {
    let before = here();
    assert_eq!(before.tasks_live, 1, "main itself");
    let waiting = spawn(std::future::pending::<()>());
    spawn(async {
        task::yield_now().await;
        task::yield_now().await;
    })
    .await
    .unwrap();
    assert!(spawn(async { panic!("counted") }).await.is_err());
    // Polls are added when a slice is over, which a wait for a timer makes sure of.
    corelane::time::sleep(std::time::Duration::from_micros(1)).await;
    let after = here();
    assert_eq!(after.tasks_spawned - before.tasks_spawned, 3);
    assert_eq!(after.tasks_ended - before.tasks_ended, 2);
    assert_eq!(after.tasks_panicked - before.tasks_panicked, 1);
    assert_eq!(after.tasks_live, 2);
    // One of the pending task, three and one of the others.
    assert!(after.polls - before.polls >= 5);
    waiting.abort();
    assert!(waiting.await.is_err());
    assert_eq!(here().tasks_live, 1);
}

// proves: RT-19
#[corelane::test(uring, epoll, sim, seeds = 2)]
async fn calls_are_counted_where_they_arrive() {
    let before = snapshot();
    for _ in 0..10 {
        shards()[1].submit(|| async {}).await.unwrap();
    }
    let after = snapshot();
    assert_eq!(after.shards[1].lane_items - before.shards[1].lane_items, 10);
    assert_eq!(after.shards[0].lane_items, before.shards[0].lane_items);
    assert_eq!(after.shards[1].lane_peak, 1);
    let told = |snapshot: &ShardSnapshot| snapshot.rings_sent + snapshot.rings_suppressed;
    assert!(told(&after.shards[0]) - told(&before.shards[0]) >= 10);
}

// proves: RT-19
#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn timers_are_counted() {
    let before = here();
    sleep(Duration::from_millis(1)).await;
    drop(spawn(sleep(Duration::from_secs(3600))));
    task::yield_now().await;
    let after = here();
    assert_eq!(after.timers_armed - before.timers_armed, 2);
    assert_eq!(after.timers_fired - before.timers_fired, 1);
}

fn parks(builder: Builder) -> Builder {
    builder.idle(IdlePolicy::Park)
}

fn spins(builder: Builder) -> Builder {
    builder.idle(IdlePolicy::Spin)
}

/// Time adds up whatever the shard did with it.
fn assert_whole(shard: &ShardSnapshot) {
    assert_eq!(shard.busy + shard.idle + shard.parked, shard.uptime);
    let shares = shard.busy_share() + shard.idle_share() + shard.parked_share();
    assert!((shares - 1.0).abs() < 1e-9, "{shard:?}");
}

// proves: RT-19
#[corelane::test(shards = 1, with = parks)]
async fn sleep_of_a_parking_shard_is_parked_time() {
    let before = here();
    sleep(Duration::from_millis(20)).await;
    let after = here();
    assert_whole(&after);
    assert!(after.parks > before.parks);
    assert!(
        after.parked - before.parked >= Duration::from_millis(10),
        "{after:?}"
    );
    assert_eq!(after.idle, Duration::ZERO);
}

// proves: RT-19
#[corelane::test(shards = 1, with = spins)]
async fn sleep_of_a_spinning_shard_is_idle_time() {
    let before = here();
    sleep(Duration::from_millis(20)).await;
    let after = here();
    assert_whole(&after);
    // How much depends on how often the system takes the processor away: that time is nobody's.
    assert!(after.idle > before.idle, "{after:?}");
    assert_eq!((after.parks, after.parked), (0, Duration::ZERO));
}

// proves: RT-19
#[corelane::test(shards = 1)]
async fn computing_is_busy_time() {
    let before = here();
    let until = Instant::now().saturating_add(Duration::from_millis(20));
    while Instant::now() < until {
        task::yield_now().await;
    }
    let after = here();
    assert_whole(&after);
    assert!(
        after.busy - before.busy >= Duration::from_millis(20),
        "{after:?}"
    );
    assert_eq!(after.parks, before.parks);
}

// proves: RT-19
#[test]
fn sleep_that_goes_on_is_seen_from_outside() {
    let running = Runtime::builder()
        .placement(Placement::Unpinned(2))
        .idle(IdlePolicy::Park)
        .start()
        .unwrap();
    // Nothing is to be done, so both shards go to sleep; each look is a bounded step toward that.
    let asleep = (0..1_000_000).find_map(|_| {
        std::thread::yield_now();
        let seen = running.metrics();
        seen.shards
            .iter()
            .all(|shard| shard.parks > 0)
            .then_some(seen)
    });
    let before = asleep.expect("idle shards park");
    let later = (0..1_000_000).find_map(|_| {
        std::thread::yield_now();
        let seen = running.metrics();
        let grown = |(now, then): (&ShardSnapshot, &ShardSnapshot)| now.parked > then.parked;
        let all = seen.shards.iter().zip(&before.shards).all(grown);
        all.then_some(seen)
    });
    let later = later.expect("their sleep goes on");
    for (now, then) in later.shards.iter().zip(&before.shards) {
        assert_eq!(now.parks, then.parks);
        assert_eq!(now.turns, then.turns);
        assert!(now.tasks_live == 0 && now.polls == 0);
    }
    running.shutdown(Duration::ZERO).unwrap();
}
