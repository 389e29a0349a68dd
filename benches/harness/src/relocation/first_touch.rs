//! All cores relocate to one empty place at once: one makes the value, and the others wait for it.

use std::sync::atomic::{AtomicU64, Ordering};

use hdrhistogram::Histogram;

use super::together::together;
use super::value::made_here;
use super::{Identity, Relocating, Value};
use crate::client::latency_histogram;
use crate::{BenchError, Params, Sample, allowed_cores, clock_ns};

/// How long a value takes to make: long enough that the others come meanwhile.
const MAKING_NS: u64 = 5_000;

fn made_slowly() -> Value {
    let done_ns = clock_ns() + MAKING_NS;
    while clock_ns() < done_ns {
        std::hint::spin_loop();
    }
    Value::new()
}

/// Where the threads meet before each storm, by spinning.
struct Meetings {
    arrived: AtomicU64,
    threads: u64,
}

impl Meetings {
    /// Waits until every thread came for the storm of that index.
    fn meet(&self, storm: u64) {
        // Release and Acquire pair: what the others did in the storm before is done.
        self.arrived.fetch_add(1, Ordering::Release);
        while self.arrived.load(Ordering::Acquire) < self.threads * (storm + 1) {
            std::hint::spin_loop();
        }
    }
}

/// Opens all meetings when its thread ends, so that a panic leaves nobody waiting.
struct Opening<'a>(&'a Meetings);

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        // More than all storms together bring.
        self.0.arrived.fetch_add(1 << 40, Ordering::Release);
    }
}

/// One thread's handles, a storm each, and what it saw.
struct Racer<H> {
    handles: Vec<H>,
    made: u64,
    waited_ns: Histogram<u64>,
}

impl<H: Relocating> Racer<H> {
    fn race(&mut self, meetings: &Meetings, places: &[H::Place]) {
        let _opening = Opening(meetings);
        for (storm, handle) in (0..).zip(&mut self.handles) {
            let made = made_here();
            meetings.meet(storm);
            let start_ns = clock_ns();
            handle.relocate(&places[0], &places[1]);
            let end_ns = clock_ns();
            if !handle.value().is_made_here() {
                self.waited_ns.saturating_record(end_ns - start_ns);
            }
            self.made += made_here() - made;
        }
    }
}

/// An operation: all threads relocate a handle to a place without a value. The value is the median
/// time of those whose value it is not, which takes 5 µs to make; the worst stands beside it.
pub(super) fn storms<H: Relocating>(params: &Params) -> Result<Sample, BenchError> {
    let (ops, threads) = (params.ops, params.shards.max(2));
    let places = H::places(2);
    let mut racers: Vec<Racer<H>> = (0..threads)
        .map(|_| Racer {
            handles: Vec::with_capacity(ops as usize),
            made: 0,
            waited_ns: latency_histogram(),
        })
        .collect();
    for _ in 0..ops {
        let first = H::make(made_slowly);
        for racer in &mut racers {
            racer.handles.push(first.clone());
        }
    }
    let meetings = Meetings {
        arrived: AtomicU64::new(0),
        threads: threads as u64,
    };
    let work = |racer: &mut Racer<H>| racer.race(&meetings, &places);
    let round = together(&allowed_cores(), racers, ops, Ok, work)?;
    let mut waited_ns = latency_histogram();
    let mut made = 0;
    for racer in &round.states {
        made += racer.made;
        waited_ns += &racer.waited_ns;
        for (handle, other) in racer.handles.iter().zip(&round.states[0].handles) {
            Identity::of(other).check(handle)?;
        }
    }
    if H::MAKES_ONCE {
        BenchError::check("values made", ops, made)?;
    }
    let waited = ops * (threads as u64 - 1);
    BenchError::check("threads that waited", waited, waited_ns.len())?;
    let median_ns = waited_ns.value_at_quantile(0.5) as f64;
    let sample = round.spent.sample(median_ns).with_latency(&waited_ns);
    Ok(sample
        .with_extra("ns waited at worst", waited_ns.max() as f64)
        .with_extra("values made", made as f64 / ops as f64))
}
