//! Draining a full queue a thousand values at a time, on one core.

use super::{Pull, Push, Queue, SLOTS, Shape};
use crate::{BenchError, Meter, Params, Sample, Spent, Tally, pin};

/// Values a call.
const CALL: usize = 1_000;
/// Calls that a full queue gives.
const CALLS: usize = SLOTS / CALL - 1;

/// The consumer's call carries an accumulator and copies nothing out.
pub(super) fn fold<Q: Queue>(params: &Params) -> Result<Sample, BenchError> {
    drain::<Q>(params, |consumer, tally| {
        consumer.pull(CALL, |value| tally.take(value))
    })
}

/// The consumer's call gives a vector.
pub(super) fn pop_batch<Q: Queue>(params: &Params) -> Result<Sample, BenchError> {
    let mut out = Vec::with_capacity(CALL);
    drain::<Q>(params, move |consumer, tally| {
        out.clear();
        let count = consumer.pop_batch(CALL, &mut out);
        out.iter().for_each(|value| tally.take(*value));
        count
    })
}

fn drain<Q: Queue>(
    params: &Params,
    mut call: impl FnMut(&mut Q::Consumer, &mut Tally) -> usize,
) -> Result<Sample, BenchError> {
    pin(params.cores.first)?;
    let (mut producers, mut consumer) = Q::open(Shape {
        slots: SLOTS,
        producers: 1,
        shards: 1,
    });
    let producer = producers.first_mut().ok_or(BenchError::Panicked)?;
    let mut tally = Tally::default();
    let mut spent = Spent::default();
    let ops = params.ops;
    while tally.count() < ops {
        let first = tally.count();
        let fill = ((CALLS * CALL) as u64).min(ops - first);
        for number in first..first + fill {
            if !producer.push(number) {
                return Err(BenchError::Stalled {
                    done: number,
                    of: ops,
                });
            }
        }
        let meter = Meter::start();
        while tally.count() < first + fill {
            if call(&mut consumer, &mut tally) == 0 {
                let done = tally.count();
                return Err(BenchError::Stalled { done, of: ops });
            }
        }
        spent.add(&meter.stop(fill));
    }
    tally.check(ops)?;
    Ok(spent.wall_sample())
}
