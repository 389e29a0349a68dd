//! Tasks, timers and wakes of one shard, and what two idle ones cost.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use corelane::{IdlePolicy, Placement, Runtime, time};
use corelane_bench_harness::{
    BenchError, Entry, ForeignSlot, Lateness, Meter, Params, Sample, Tally, foreign_wakes,
    idle_share,
};
use futures_util::future::FutureExt;

use crate::{WHO, driver, ours};

/// Timers armed beside the one that is measured.
const ARMED: u64 = 100_000;

pub(crate) fn entries() -> Vec<Entry> {
    vec![
        Entry::round(("runtime", "spawn_join"), WHO, spawn_join),
        Entry::round(("runtime", "yield"), WHO, yields),
        Entry::round(("runtime", "foreign_wake"), WHO, foreign_wake),
        Entry::round(("runtime", "timer_insert_cancel"), WHO, timer_insert_cancel),
        Entry::round(("runtime", "timer_late_p99"), WHO, timer_late),
        Entry::round(("runtime", "idle_cpu"), WHO, idle),
    ]
}

/// Runs `main` on one shard on `core`, with `idle` as the shard's way to wait.
pub(crate) fn on_shard<T, Fut>(
    core: usize,
    idle: IdlePolicy,
    main: impl FnOnce() -> Fut + 'static,
) -> Result<T, BenchError>
where
    T: 'static,
    Fut: Future<Output = Result<T, BenchError>> + 'static,
{
    let builder = Runtime::builder()
        .placement(Placement::Cores(vec![core]))
        .idle(idle);
    builder.run(main).map_err(ours)?
}

fn spawn_join(params: &Params) -> Result<Sample, BenchError> {
    let ops = params.ops;
    on_shard(
        params.cores.first,
        IdlePolicy::default(),
        move || async move {
            let meter = Meter::start();
            let mut tally = Tally::default();
            for number in 0..ops {
                tally.take(corelane::spawn(async move { number }).await.map_err(ours)?);
            }
            let spent = meter.stop(ops);
            tally.check(ops)?;
            Ok(spent.wall_sample())
        },
    )
}

fn yields(params: &Params) -> Result<Sample, BenchError> {
    let ops = params.ops;
    on_shard(
        params.cores.first,
        IdlePolicy::default(),
        move || async move {
            let meter = Meter::start();
            for _ in 0..ops {
                corelane::task::yield_now().await;
            }
            Ok(meter.stop(ops).wall_sample())
        },
    )
}

fn foreign_wake(params: &Params) -> Result<Sample, BenchError> {
    let (core, ops) = (params.cores.first, params.ops);
    foreign_wakes(params, move |slot| {
        on_shard(core, IdlePolicy::Park, move || async move {
            slot.answer(ops).await;
            Ok(())
        })
    })
}

fn timer_insert_cancel(params: &Params) -> Result<Sample, BenchError> {
    let ops = params.ops;
    on_shard(
        params.cores.first,
        IdlePolicy::default(),
        move || async move {
            let mut armed = Vec::with_capacity(ARMED as usize);
            for index in 0..ARMED {
                let far = Duration::from_secs(60) + Duration::from_micros(37 * index);
                let mut timer = Box::pin(time::sleep(far));
                BenchError::check("timers pending", 1, pending(timer.as_mut().now_or_never()))?;
                armed.push(timer);
            }
            let meter = Meter::start();
            let mut pending_count = 0;
            for index in 0..ops {
                let timer = pin!(time::sleep(Duration::from_millis(100 + index % 1_000)));
                pending_count += pending(timer.now_or_never());
            }
            let spent = meter.stop(ops);
            BenchError::check("timers pending", ops, pending_count)?;
            Ok(spent.wall_sample())
        },
    )
}

fn pending<T>(polled: Option<T>) -> u64 {
    u64::from(polled.is_none())
}

fn timer_late(params: &Params) -> Result<Sample, BenchError> {
    let ops = params.ops;
    on_shard(
        params.cores.first,
        IdlePolicy::default(),
        move || async move {
            let mut lateness = Lateness::new(ops);
            while let Some(sleep) = lateness.begin() {
                time::sleep(sleep).await;
                lateness.woke();
            }
            Ok(lateness.finish()?.with_remark(driver()))
        },
    )
}

fn idle(params: &Params) -> Result<Sample, BenchError> {
    let cores = vec![params.cores.first, params.cores.second];
    idle_share(params, move |[first, second]: [Arc<ForeignSlot>; 2]| {
        let builder = Runtime::builder().placement(Placement::Cores(cores));
        let outcome = builder.run(move || async move {
            let other = &corelane::shards()[1];
            let answered = other.submit(move || async move { second.answer(1).await });
            first.answer(1).await;
            answered.await
        });
        outcome.map_err(ours)?.map_err(ours)
    })
}
