//! Timers of one shard.

use std::pin::pin;
use std::time::Duration;

use corelane::time::sleep;
use corelane_bench_harness::BenchError;
use futures_util::future::FutureExt;

use super::Hold;
use super::shard::on_one_shard;

/// Timers armed beside the one that is counted.
const ARMED: u64 = 100_000;
/// No timer of a row is due before it ends, also where every instruction is counted.
const FAR: Duration = Duration::from_secs(600);

type Armed = Vec<std::pin::Pin<Box<corelane::time::Sleep>>>;

/// Arms `count` timers, 37 µs apart.
fn arm(count: u64) -> Result<Armed, BenchError> {
    let mut armed = Armed::with_capacity(count as usize);
    let mut waiting = 0;
    for index in 0..count {
        let mut timer = Box::pin(sleep(FAR + Duration::from_micros(37 * index)));
        waiting += u64::from(timer.as_mut().now_or_never().is_none());
        armed.push(timer);
    }
    BenchError::check("timers armed", count, waiting)?;
    Ok(armed)
}

/// An operation: a timer is armed and cancelled beside 100,000 others.
pub(super) fn insert_cancel(ops: u64, hold: Hold) -> Result<(), BenchError> {
    on_one_shard(move || async move {
        let armed = arm(ARMED)?;
        let mut waiting = 0;
        for index in 0..ops {
            let timer = pin!(sleep(FAR + Duration::from_millis(100 + index % 1_000)));
            waiting += u64::from(timer.now_or_never().is_none());
        }
        hold();
        drop(armed);
        BenchError::check("timers armed", ops, waiting)
    })
}

/// An operation: a timer is armed, kept beside all others, and cancelled.
pub(super) fn held(ops: u64, hold: Hold) -> Result<(), BenchError> {
    on_one_shard(move || async move {
        let armed = arm(ops)?;
        hold();
        BenchError::check("timers kept", ops, armed.len() as u64)
    })
}
