//! Calls and messages between two shards.

use std::future::Future;

use corelane::{IdlePolicy, Placement, Runtime};
use corelane_bench_harness::{
    BenchError, Entry, LAP, Laps, Meter, Params, Sample, Tally, one_way_sample,
};
use corelane_primitives::lane;

use crate::{WHO, driver, ours};

/// Slots of the lane, as in every ring of the mesh row.
const CAPACITY: usize = 1_024;
/// Messages pushed between two looks at whether the other shard sleeps.
const BATCH: u64 = 64;

pub(crate) fn entries() -> Vec<Entry> {
    vec![
        Entry::round(("runtime", "submit_spin"), WHO, |params| {
            submit(params, IdlePolicy::Spin)
        }),
        Entry::round(("runtime", "submit_park"), WHO, |params| {
            submit(params, IdlePolicy::Park)
        }),
        Entry::round(("runtime", "mesh_one_way"), WHO, one_way),
    ]
}

/// Runs `main` on the first of two shards.
pub(crate) fn on_two_shards<T, Fut>(
    params: &Params,
    idle: IdlePolicy,
    main: impl FnOnce() -> Fut + 'static,
) -> Result<T, BenchError>
where
    T: 'static,
    Fut: Future<Output = Result<T, BenchError>> + 'static,
{
    let cores = Placement::Cores(vec![params.cores.first, params.cores.second]);
    Runtime::builder()
        .placement(cores)
        .idle(idle)
        .run(main)
        .map_err(ours)?
}

fn submit(params: &Params, idle: IdlePolicy) -> Result<Sample, BenchError> {
    let ops = params.ops;
    on_two_shards(params, idle, move || async move {
        let other = corelane::shards()[1].clone();
        let mut tally = Tally::default();
        let mut laps = Laps::start(LAP);
        for number in 0..ops {
            tally.take(
                other
                    .submit(move || async move { number })
                    .await
                    .map_err(ours)?,
            );
            laps.done();
        }
        tally.check(ops)?;
        Ok(laps.finish(ops)?.with_remark(driver()))
    })
}

fn one_way(params: &Params) -> Result<Sample, BenchError> {
    let ops = params.ops;
    on_two_shards(params, IdlePolicy::default(), move || async move {
        let (mut producer, mut consumer) = lane(CAPACITY);
        let sent = corelane::shards()[1].submit(move || async move {
            let start = Meter::start();
            let mut next = 0;
            while next < ops {
                let stalled = |_| BenchError::Stalled {
                    done: next,
                    of: ops,
                };
                let end = (next + BATCH).min(ops);
                producer
                    .room((end - next) as usize)
                    .await
                    .map_err(stalled)?;
                for number in next..end {
                    producer.push(number).map_err(|_| BenchError::Stalled {
                        done: number,
                        of: ops,
                    })?;
                }
                producer.notify();
                next = end;
            }
            Ok::<_, BenchError>(start)
        });
        let mut tally = Tally::default();
        while tally.count() < ops {
            let Some(number) = consumer.recv().await else {
                return Err(BenchError::Stalled {
                    done: tally.count(),
                    of: ops,
                });
            };
            tally.take(number);
            while let Some(number) = consumer.pop() {
                tally.take(number);
            }
        }
        let end = Meter::start();
        one_way_sample(sent.await.map_err(ours)??, end, &tally, ops)
    })
}
