//! Reads and sets of the latest value, without a host: threads call and never wait.

use std::hint::black_box;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;

use super::rows::PASS_READS;
use super::value::{Seen, encoded};
use super::{Latest, LatestArc};
use crate::{BenchError, Meter, Params, Sample, Spent, pin};

/// What is read where nothing is set.
const VALUE: u64 = 42;
/// Sets of one pass with one source, as in Datum's own row.
const PASS_SETS: u64 = 100_000;

/// A reader's work in one pass, for its whole thread.
pub(super) type Job = Box<dyn FnOnce() -> Result<u64, BenchError> + Send>;

/// Threads that read when they are told to: making threads is in no figure.
pub(super) struct Readers {
    workers: Vec<Sender<Job>>,
    done: Receiver<Result<u64, BenchError>>,
}

impl Readers {
    pub(super) fn start<'scope>(scope: &'scope Scope<'scope, '_>, count: usize) -> Self {
        let (reply, done) = channel();
        let workers = (0..count).map(|_| {
            let (sender, jobs) = channel::<Job>();
            let reply = reply.clone();
            scope.spawn(move || {
                for job in jobs {
                    if reply.send(job()).is_err() {
                        return; // the round has failed
                    }
                }
            });
            sender
        });
        Self {
            workers: workers.collect(),
            done,
        }
    }

    /// Gives each reader a job, waits for all, and adds up what they answer.
    pub(super) fn run(&self, jobs: impl Iterator<Item = Job>) -> Result<u64, BenchError> {
        let mut given = 0;
        for (worker, job) in self.workers.iter().zip(jobs) {
            worker.send(job).map_err(|_| BenchError::Panicked)?;
            given += 1;
        }
        let mut sum = 0_u64;
        for _ in 0..given {
            let answer = self.done.recv().map_err(|_| BenchError::Panicked)?;
            sum = sum.wrapping_add(answer?);
        }
        Ok(sum)
    }
}

/// `readers` threads read copies, in passes of 2^20 reads of one source each.
pub(super) fn reads<L: Latest>(params: &Params, readers: usize) -> Result<Sample, BenchError> {
    read_by::<L>(params, readers, |latest, reads| {
        let mut sum = 0_u64;
        for _ in 0..reads {
            sum = sum.wrapping_add(black_box(latest.get()));
        }
        sum
    })
}

/// The same through references that are counted.
pub(super) fn arc_reads<L: LatestArc>(
    params: &Params,
    readers: usize,
) -> Result<Sample, BenchError> {
    read_by::<L>(params, readers, |latest, reads| {
        let mut reader = latest.reader();
        let mut sum = 0_u64;
        for _ in 0..reads {
            sum = sum.wrapping_add(*black_box(L::get_arc(&mut reader)));
        }
        sum
    })
}

fn read_by<L: Latest>(
    params: &Params,
    readers: usize,
    read: fn(L, u64) -> u64,
) -> Result<Sample, BenchError> {
    let share = PASS_READS.min(params.ops) / readers as u64;
    let pass_reads = share * readers as u64;
    let passes = (params.ops / PASS_READS).max(1);
    std::thread::scope(|scope| {
        let pool = Readers::start(scope, readers);
        let meter = Meter::start();
        for _ in 0..passes {
            let latest = L::with(VALUE);
            let jobs = (0..readers).map(|_| {
                let latest = latest.clone();
                Box::new(move || Ok(read(latest, share))) as Job
            });
            let sum = pool.run(jobs)?;
            BenchError::check("sum of what was read", VALUE * pass_reads, sum)?;
        }
        Ok(meter.stop(passes * pass_reads).wall_sample())
    })
}

/// Sets with no feed, in passes of 100,000; the source's close is in it, as in Datum's own row.
pub(super) fn sets<L: Latest>(params: &Params) -> Result<Sample, BenchError> {
    pin(params.cores.first)?;
    set_passes(params.ops, |count| {
        let latest = L::with(0);
        set_all(&latest, count)
    })
}

/// Runs `pass` until `ops` sets are done.
pub(super) fn set_passes(
    ops: u64,
    mut pass: impl FnMut(u64) -> Result<Spent, BenchError>,
) -> Result<Sample, BenchError> {
    let mut spent = Spent::default();
    while spent.ops < ops {
        spent.add(&pass(PASS_SETS.min(ops - spent.ops))?);
    }
    Ok(spent.wall_sample())
}

/// Sets `1..=count`, closes, and reads the last value.
pub(super) fn set_all<L: Latest>(latest: &L, count: u64) -> Result<Spent, BenchError> {
    let meter = Meter::start();
    let mut refused = 0;
    for number in 1..=count {
        refused += u64::from(!latest.set(number));
    }
    latest.close();
    let spent = meter.stop(count);
    BenchError::check("sets refused", 0, refused)?;
    BenchError::check("last value", count, latest.get())?;
    Ok(spent)
}

/// Sets, each of which is read back and checked.
pub(super) fn sets_read_back<L: Latest>(params: &Params) -> Result<Sample, BenchError> {
    pin(params.cores.first)?;
    let latest = L::with(encoded(0));
    let mut seen = Seen::default();
    let mut behind = 0;
    let meter = Meter::start();
    for number in 1..=params.ops {
        let set = latest.set(encoded(number));
        behind += u64::from(seen.take(latest.get()) != number || !set);
    }
    let spent = meter.stop(params.ops);
    seen.check(params.ops)?;
    BenchError::check("sets that were not read back", 0, behind)?;
    Ok(spent.wall_sample())
}
