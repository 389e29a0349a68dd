//! Bursts: one producer pushes a few values and waits until the last has been seen.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::patience::Patience;
use super::rows::{Burst, On};
use super::start::{Start, places};
use super::{BATCH, Host, Pull, Push, Queue, SLOTS, Shape};
use crate::{BenchError, LAP, Laps, Params, Sample, Tally, pin};

/// How many values the consumer has seen, on a line of its own.
#[derive(Default)]
#[repr(align(128))]
struct Seen(AtomicU64);

/// The round of `burst`: median time a value.
pub(super) fn burst<Q: Queue, H: Host>(
    params: &Params,
    burst: Burst,
) -> Result<Sample, BenchError> {
    let (mut producers, consumer) = Q::open(Shape {
        slots: SLOTS,
        producers: 1,
        shards: 1,
    });
    let producer = producers.pop().ok_or(BenchError::Panicked)?;
    let size = burst.size as u64;
    // Whole laps of whole bursts.
    let ops = (params.ops / (size * LAP)).max(1) * size * LAP;
    match burst.on {
        On::Apart => apart(params, burst.size, ops, producer, consumer),
        On::OneCore => together::<Q, H>(params, burst.size, ops, producer, consumer),
    }
}

/// Producer and consumer on a core each.
fn apart<P: Push + Send, C: Pull + Send>(
    params: &Params,
    size: usize,
    ops: u64,
    mut producer: P,
    mut consumer: C,
) -> Result<Sample, BenchError> {
    let (own, others) = places(params, On::Apart);
    let (start, seen) = (Start::of(2), Seen::default());
    let (start, seen) = (&start, &seen);
    let stalled = |done| BenchError::Stalled { done, of: ops };
    std::thread::scope(|scope| {
        let taking = scope.spawn(move || {
            let pinned = start.pin(own);
            start.meet()?;
            pinned?;
            let (mut tally, patience) = (Tally::default(), Patience::default());
            while tally.count() < ops {
                if consumer.pull(BATCH, |value| tally.take(value)) > 0 {
                    seen.0.store(tally.count(), Ordering::Release);
                    patience.calm();
                } else if !patience.wait() {
                    return Err(stalled(tally.count()));
                }
            }
            tally.check(ops)
        });
        let pinned = start.pin(others[0]);
        start.meet()?;
        pinned?;
        let mut laps = Laps::start(LAP * size as u64);
        let (patience, mut values) = (Patience::default(), Vec::with_capacity(size));
        for number in (0..ops).step_by(size) {
            let end = number + size as u64;
            values.clear();
            values.extend(number..end);
            if producer.push_batch(&values) < size {
                return Err(stalled(number)); // never full: the last burst has been seen
            }
            while seen.0.load(Ordering::Acquire) < end {
                if !patience.wait() {
                    return Err(stalled(number));
                }
            }
            patience.calm();
            values.iter().for_each(|_| laps.done());
        }
        let sample = laps.finish(ops)?;
        taking.join().map_err(|_| BenchError::Panicked)??;
        Ok(sample)
    })
}

/// Two tasks of one host.
fn together<Q: Queue, H: Host>(
    params: &Params,
    size: usize,
    ops: u64,
    producer: Q::Producer,
    consumer: Q::Consumer,
) -> Result<Sample, BenchError> {
    let core = params.cores.first;
    pin(core)?;
    let seen = Arc::new(Seen::default());
    let done = Rc::new(RefCell::new(Vec::new()));
    let tasks: Vec<std::pin::Pin<Box<dyn Future<Output = ()>>>> = vec![
        Box::pin(pushes::<Q, H>(
            producer,
            size,
            ops,
            Arc::clone(&seen),
            Rc::clone(&done),
        )),
        Box::pin(pops::<Q, H>(consumer, ops, seen, Rc::clone(&done))),
    ];
    H::run(core, tasks, || ())?;
    let mut sample = Err(BenchError::Panicked);
    for outcome in done.take() {
        if let Some(measured) = outcome? {
            sample = Ok(measured);
        }
    }
    sample
}

type Outcomes = Rc<RefCell<Vec<Result<Option<Sample>, BenchError>>>>;

async fn pushes<Q: Queue, H: Host>(
    mut producer: Q::Producer,
    size: usize,
    ops: u64,
    seen: Arc<Seen>,
    done: Outcomes,
) {
    let (patience, mut values) = (Patience::default(), Vec::with_capacity(size));
    let mut laps = Laps::start(LAP * size as u64);
    for number in (0..ops).step_by(size) {
        let end = number + size as u64;
        values.clear();
        values.extend(number..end);
        let mut all = producer.push_batch(&values) == size;
        while all && seen.0.load(Ordering::Acquire) < end {
            all = patience.miss();
            H::yield_now().await;
        }
        if !all {
            let stalled = BenchError::Stalled {
                done: number,
                of: ops,
            };
            done.borrow_mut().push(Err(stalled));
            return;
        }
        patience.calm();
        values.iter().for_each(|_| laps.done());
    }
    done.borrow_mut().push(laps.finish(ops).map(Some));
}

async fn pops<Q: Queue, H: Host>(
    mut consumer: Q::Consumer,
    ops: u64,
    seen: Arc<Seen>,
    done: Outcomes,
) {
    let (mut tally, patience) = (Tally::default(), Patience::default());
    while tally.count() < ops {
        if consumer.pull(BATCH, |value| tally.take(value)) > 0 {
            seen.0.store(tally.count(), Ordering::Release);
            patience.calm();
        } else if !patience.miss() {
            break; // the check names what is missing
        }
        H::yield_now().await;
    }
    done.borrow_mut().push(tally.check(ops).map(|()| None));
}
