//! What a consumer that waits costs.

use std::time::Duration;

use super::rows::On;
use super::start::{Start, places};
use super::{Pull, Push, Queue, SLOTS, Shape};
use crate::{BenchError, Meter, Params, Sample};

/// How long the consumer settles.
const SETTLE: Duration = Duration::from_millis(50);
const LAST: u64 = 42;

/// Processor time of the waiting consumer in percent of a core.
pub(super) fn idle<Q: Queue>(params: &Params) -> Result<Sample, BenchError> {
    let (mut producers, mut consumer) = Q::open(Shape {
        slots: SLOTS,
        producers: 1,
        shards: 1,
    });
    let producer = producers.first_mut().ok_or(BenchError::Panicked)?;
    let (own, _) = places(params, On::Apart);
    let start = &Start::of(2);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(move || {
            let pinned = start.pin(own);
            start.meet()?;
            pinned?;
            Ok::<_, BenchError>(consumer.pop_wait())
        });
        start.meet()?;
        std::thread::sleep(SETTLE);
        let meter = Meter::start();
        std::thread::sleep(Duration::from_millis(params.ops));
        let spent = meter.stop(params.ops);
        BenchError::check(
            "values pushed",
            1,
            u64::from(producer.push_wait(LAST, SETTLE)),
        )?;
        producer.notify();
        let value = waiting.join().map_err(|_| BenchError::Panicked)??;
        BenchError::check("the value that ends the wait", LAST, value.unwrap_or(0))?;
        Ok(spent.sample(spent.cpu_ns as f64 * 100.0 / spent.wall_ns as f64))
    })
}
