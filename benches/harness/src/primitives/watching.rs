//! Rows about feeds that wait, and about sets and reads beside a feed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::FutureExt;

use super::latest::{Job, Readers, set_all, set_passes};
use super::rows::PASS_READS;
use super::stage::{Gets, Stage, beside};
use super::value::{Seen, encoded};
use super::{Crowd, Ear, Latest};
use crate::client::latency_histogram;
use crate::rings::Patience;
use crate::{BenchError, Meter, Params, Sample, Spent, clock_ns};

/// Reads of the reader that also sets, for each set.
const READS_PER_SET: u64 = 1_024;
/// How long a writer rests before each set, so that the feed sleeps.
const REST_NS: u64 = 50_000;
/// How long waiting feeds settle before their processor time is read.
const SETTLE: Duration = Duration::from_millis(50);

/// Blocks its feed's thread from the first value on, until the gate opens.
struct Blocked {
    stage: Arc<Stage>,
    gate: Arc<AtomicU64>,
}

impl Ear for Blocked {
    fn ready(&mut self) {}

    fn take(&mut self, _: u64) -> bool {
        self.stage.count_ready();
        while self.gate.load(Ordering::Acquire) == 0 {
            std::thread::yield_now();
        }
        false
    }
}

/// Sets while the only feed's reader is busy with the first value.
pub(super) fn sets_past_a_busy_feed<C: Crowd + Latest>(
    params: &Params,
) -> Result<Sample, BenchError> {
    set_passes(params.ops, |count| {
        let crowd = C::open(1);
        let (stage, gate) = (Stage::of(1), Arc::default());
        let ear = Blocked {
            stage: Arc::clone(&stage),
            gate: Arc::clone(&gate),
        };
        let mut spent = Spent::default();
        beside(params.cores, &crowd, vec![ear], |start| {
            let pinned = start.pin(params.cores.second);
            start.meet()?;
            pinned?;
            let set = stage.wait_ready().and_then(|()| set_all(&crowd, count));
            gate.store(1, Ordering::Release);
            spent = set?;
            Ok(())
        })?;
        Ok(spent)
    })
}

/// Tells the writer what its feed has.
struct Echo {
    stage: Arc<Stage>,
    newest: Arc<AtomicU64>,
    last: u64,
}

impl Ear for Echo {
    fn ready(&mut self) {
        self.stage.count_ready();
    }

    fn take(&mut self, value: u64) -> bool {
        self.newest.store(value, Ordering::Release);
        value < self.last
    }
}

/// How long a set takes to reach a feed that sleeps.
pub(super) fn observe<C: Crowd>(params: &Params) -> Result<Sample, BenchError> {
    let crowd = C::open(256);
    let (stage, newest) = (Stage::of(1), Arc::new(AtomicU64::new(0)));
    let ear = Echo {
        stage: Arc::clone(&stage),
        newest: Arc::clone(&newest),
        last: params.ops,
    };
    let mut latency_ns = latency_histogram();
    let mut spent = Spent::default();
    beside(params.cores, &crowd, vec![ear], |start| {
        let pinned = start.pin(params.cores.second);
        start.meet()?;
        pinned?;
        stage.wait_ready()?;
        let patience = Patience::default();
        let meter = Meter::start();
        for number in 1..=params.ops {
            let rest_until_ns = clock_ns() + REST_NS;
            while clock_ns() < rest_until_ns {
                std::hint::spin_loop();
            }
            let start_ns = clock_ns();
            let sent = crowd.send(number).now_or_never();
            BenchError::check("sets at the first poll", 1, u64::from(sent == Some(true)))?;
            while newest.load(Ordering::Acquire) < number {
                if !patience.wait() {
                    let done = number - 1;
                    let of = params.ops;
                    return Err(BenchError::Stalled { done, of });
                }
            }
            patience.calm();
            latency_ns.saturating_record(clock_ns() - start_ns);
        }
        spent = meter.stop(params.ops);
        Ok(())
    })?;
    BenchError::check("sets observed", params.ops, newest.load(Ordering::Acquire))?;
    let p99_ns = latency_ns.value_at_quantile(0.99) as f64;
    Ok(spent.sample(p99_ns).with_latency(&latency_ns))
}

/// Processor time of `feeds` that wait, in percent of a core; then each gets a value.
pub(super) fn idle<C: Crowd>(params: &Params, feeds: usize) -> Result<Sample, BenchError> {
    let crowd = C::open(256);
    let stage = Stage::of(feeds);
    let ears = stage.listeners(Gets::Latest, 1);
    let mut sample = None;
    beside(params.cores, &crowd, ears, |start| {
        start.meet()?;
        stage.wait_ready()?;
        std::thread::sleep(SETTLE);
        let meter = Meter::start();
        std::thread::sleep(Duration::from_millis(params.ops));
        let spent = meter.stop(params.ops);
        stage.begin();
        let sent = crowd.send(encoded(1)).now_or_never();
        BenchError::check("sets at the first poll", 1, u64::from(sent == Some(true)))?;
        let share = spent.cpu_ns as f64 * 100.0 / spent.wall_ns as f64;
        sample = Some(spent.sample(share));
        Ok(())
    })?;
    stage.spent(1)?;
    sample.ok_or(BenchError::Panicked)
}

/// Reads by `readers` threads while the first one sets now and then and a live feed follows.
pub(super) fn live_reads<C: Crowd + Latest>(
    params: &Params,
    readers: usize,
) -> Result<Sample, BenchError> {
    let share = PASS_READS.min(params.ops) / readers as u64;
    let mut spent = Spent::default();
    for _ in 0..(params.ops / PASS_READS).max(1) {
        spent.add(&live_pass::<C>(params, readers, share)?);
    }
    Ok(spent.wall_sample())
}

fn live_pass<C: Crowd + Latest>(
    params: &Params,
    readers: usize,
    share: u64,
) -> Result<Spent, BenchError> {
    let last = share / READS_PER_SET + 1;
    let crowd = C::open(1);
    let stage = Stage::of(1);
    let ears = stage.listeners(Gets::Latest, last);
    let mut spent = Spent::default();
    beside(params.cores, &crowd, ears, |start| {
        std::thread::scope(|scope| {
            let pool = Readers::start(scope, readers);
            start.meet()?;
            stage.wait_ready()?;
            stage.begin();
            let meter = Meter::start();
            let jobs = (0..readers).map(|reader| {
                let crowd = crowd.clone();
                Box::new(move || read_and_set(&crowd, reader == 0, share)) as Job
            });
            let wrong = pool.run(jobs)?;
            spent = meter.stop(share * readers as u64);
            BenchError::check("values torn or out of order", 0, wrong)?;
            BenchError::check("last set", 1, u64::from(crowd.set(encoded(last))))
        })
    })?;
    stage.spent(1)?;
    BenchError::check("last value", encoded(last), crowd.get())?;
    Ok(spent)
}

/// Answers how many of the values read were wrong.
fn read_and_set<L: Latest>(latest: &L, sets: bool, reads: u64) -> Result<u64, BenchError> {
    let mut seen = Seen::default();
    for read in 1..=reads {
        seen.take(latest.get());
        if sets && read % READS_PER_SET == 0 {
            let set = latest.set(encoded(read / READS_PER_SET));
            BenchError::check("sets", 1, u64::from(set))?;
        }
    }
    Ok(seen.wrong() + (reads - seen.count()))
}
