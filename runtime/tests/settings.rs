//! What a setting may be: each edge starts and works, and what lies beyond is refused by its name.
#![allow(clippy::unwrap_used)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use corelane::task::yield_now;
use corelane::time::{sleep, timeout};
use corelane::{Builder, Driver, IdlePolicy, Placement, Runtime, StartError, shards, sim, spawn};

fn two_shards() -> Builder {
    Runtime::builder().placement(Placement::Unpinned(2))
}

/// The error of a builder that does not start, the same in each of its last calls.
fn refused(builder: &Builder) -> StartError {
    let ran = builder.clone().run(async || ()).unwrap_err();
    let simulated = builder.clone().simulate(1, async || ()).unwrap_err();
    let started = builder.clone().start().unwrap_err();
    assert_eq!(ran.to_string(), started.to_string());
    assert_eq!(ran.to_string(), simulated.to_string());
    ran
}

/// A runtime with these settings does what runtimes do, on every driver.
fn works(builder: &Builder) {
    for driver in [Driver::Auto, Driver::Epoll, Driver::Sim(1)] {
        let main = builder.clone().driver(driver).run(async || {
            let task = spawn(async {
                sleep(Duration::from_micros(10)).await;
                yield_now().await;
                3
            });
            let call = shards()[shards().len() - 1].submit(|| async {
                timeout(Duration::from_secs(60), yield_now()).await.unwrap();
                4
            });
            task.await.unwrap() + call.await.unwrap()
        });
        assert_eq!(main.unwrap(), 7, "{driver:?}");
    }
    let running = builder.clone().start().unwrap();
    let calls: Vec<_> = running
        .shards()
        .map(|shard| shard.submit(async || 5))
        .collect();
    let answers = calls.into_iter().map(|call| call.wait().unwrap());
    assert_eq!(answers.sum::<i32>(), 5 * running.shards().len() as i32);
    running.shutdown(Duration::from_secs(60)).unwrap();
}

#[test]
fn no_shard_is_refused_as_that() {
    for none in [
        Runtime::builder().shards(0),
        two_shards().shards(0),
        Runtime::builder().placement(Placement::Unpinned(0)),
    ] {
        let error = refused(&none);
        assert!(matches!(error, StartError::NoShards), "{error:?}");
        assert_eq!(error.to_string(), "a runtime has at least one shard");
    }
    // Asked for by their number, they need no processors of the placement's own.
    works(
        &Runtime::builder()
            .placement(Placement::Unpinned(0))
            .shards(1),
    );
}

#[test]
fn too_many_shards_are_refused_by_their_number() {
    for builder in [
        two_shards().shards(4_097),
        Runtime::builder().placement(Placement::Unpinned(usize::MAX)),
    ] {
        let error = refused(&builder);
        assert!(matches!(error, StartError::TooManyShards(_)), "{error:?}");
    }
}

#[test]
fn inbox_without_room_or_without_bounds_is_refused() {
    for capacity in [0, (1 << 20) + 1, usize::MAX] {
        let error = refused(&two_shards().inbox_capacity(capacity));
        assert!(
            matches!(error, StartError::InboxCapacity(named) if named == capacity),
            "{error:?}"
        );
    }
    for capacity in [1, 1 << 20] {
        works(&two_shards().inbox_capacity(capacity));
    }
}

#[test]
fn lane_that_is_no_power_of_two_is_refused() {
    for capacity in [0, 1, 3, 1_000, 1 << 21, u32::MAX] {
        let error = refused(&two_shards().lane_capacity(capacity));
        assert!(
            matches!(error, StartError::LaneCapacity(named) if named == capacity),
            "{error:?}"
        );
    }
    for capacity in [2, 1 << 20] {
        works(&two_shards().lane_capacity(capacity));
    }
}

#[test]
fn receive_buffers_that_are_no_power_of_two_are_refused() {
    for count in [0, 3, (1 << 15) + 1, u16::MAX] {
        let error = refused(&two_shards().receive_buffers(count));
        assert!(
            matches!(error, StartError::Buffers(named) if named == u32::from(count)),
            "{error:?}"
        );
    }
    for count in [1, 1 << 15] {
        works(&Runtime::builder().shards(1).receive_buffers(count));
    }
}

#[test]
fn processor_that_no_machine_has_is_refused_by_its_number() {
    let error = refused(&Runtime::builder().placement(Placement::Cores(vec![usize::MAX])));
    assert!(
        matches!(error, StartError::Processor(usize::MAX)),
        "{error:?}"
    );
}

#[test]
fn every_duration_from_none_to_the_longest_works() {
    // Beyond the clock's reach the low bits of a length in nanoseconds would be a short one.
    let beyond = Duration::from_nanos(u64::MAX) + Duration::from_nanos(2);
    for length in [
        Duration::ZERO,
        Duration::from_nanos(1),
        Duration::from_nanos(u64::MAX),
        beyond,
        Duration::MAX,
    ] {
        works(&two_shards().task_budget(length));
        works(&two_shards().idle(IdlePolicy::SpinThenPark(length)));
        // With no time for the end, what the kernel holds is left to it: there is nothing here.
        works(&two_shards().shutdown_limit(length));
    }
}

#[test]
fn test_over_no_seed_is_refused() {
    let over_none = || sim::for_seeds(&two_shards(), 0, async || ());
    assert!(catch_unwind(AssertUnwindSafe(over_none)).is_err());
}
