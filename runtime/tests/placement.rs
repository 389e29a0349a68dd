//! Shards run where they are placed, and the caller's thread gets its processors back.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use corelane::{Driver, IdlePolicy, Placement, Runtime, StartError, metrics, shards};
use thread_aware::topology::Topology;

/// The processors that the calling thread may use, as the kernel says it.
fn allowed() -> String {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.unwrap().trim().to_owned()
}

/// The processors of the machine's cores, one each.
fn cores() -> Vec<String> {
    let topology = Topology::detect().unwrap();
    let count = topology.shard_limit().get();
    let cores = topology.physical_cores().iter().take(count);
    cores
        .map(|core| core.processor().number().to_string())
        .collect()
}

/// What each shard may use.
async fn allowed_by_shard() -> Vec<String> {
    let mut all = Vec::new();
    for shard in shards().iter() {
        all.push(shard.submit(|| async { allowed() }).await.unwrap());
    }
    all
}

// proves: RT-1
#[test]
fn each_shard_is_pinned_to_its_core_and_the_caller_is_free_again() {
    let before = allowed();
    for driver in [Driver::Auto, Driver::Epoll] {
        let builder = Runtime::builder().driver(driver);
        assert_eq!(builder.run(allowed_by_shard).unwrap(), cores());
        assert_eq!(allowed(), before);
    }
}

// proves: RT-1
#[test]
fn more_shards_than_cores_share_them_in_turn_and_sleep() {
    let cores = cores();
    let count = 2 * cores.len() + 1;
    let wanted: Vec<_> = cores.into_iter().cycle().take(count).collect();
    let builder = Runtime::builder().shards(count).idle(IdlePolicy::Spin);
    let (seen, idle) = builder
        .run(async || {
            let seen = allowed_by_shard().await;
            // Each shard but this one was woken for a call: it had been asleep, not spinning.
            let idle = metrics::snapshot()
                .shards
                .into_iter()
                .map(|shard| shard.idle);
            (seen, idle.sum::<std::time::Duration>())
        })
        .unwrap();
    assert_eq!(seen, wanted);
    assert_eq!(idle, std::time::Duration::ZERO);
}

// proves: RT-1
#[test]
fn panic_of_main_frees_the_caller_too() {
    let before = allowed();
    let ended = catch_unwind(AssertUnwindSafe(|| {
        Runtime::builder().run(async || panic!("as asked for"))
    }));
    assert!(ended.is_err());
    assert_eq!(allowed(), before);
}

// proves: RT-1
#[test]
fn processor_that_is_refused_is_an_error_and_leaves_nothing() {
    let before = allowed();
    let first = Topology::detect().unwrap().allowed()[0].number() as usize;
    for placement in [
        Placement::Cores(vec![100_000]),
        Placement::Cores(vec![first, 100_000]),
        Placement::Numa(4_000),
    ] {
        let builder = Runtime::builder().placement(placement);
        let error = builder.clone().run(async || ()).unwrap_err();
        assert!(
            matches!(error, StartError::Topology(_) | StartError::NoProcessor),
            "{error:?}"
        );
        assert!(builder.start().is_err());
        assert_eq!(allowed(), before);
    }
}
