//! Overload: a full queue whose consumer takes one value in 5 µs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::patience::Patience;
use super::rows::On;
use super::start::{Start, places};
use super::{BATCH, Pull, Push, Queue, SLOTS, Shape};
use crate::{BenchError, Meter, Params, Sample, Spent, Tally, clock_ns};

/// What the consumer needs for a value.
const WORK_NS: u64 = 5_000;
/// Time between two offers that are refused, a fiftieth of it.
const OFFER_NS: u64 = WORK_NS / 50;
/// How long an offer waits under the other policy.
const WAIT: Duration = Duration::from_millis(1);

/// 50 offers for each value taken; an offer that finds no room is lost.
pub(super) fn refuse<Q: Queue>(params: &Params) -> Result<Sample, BenchError> {
    overload::<Q>(params, |producer, value| producer.push(value), OFFER_NS)
}

/// Offers as fast as they are accepted; each waits for room for up to a millisecond.
pub(super) fn wait<Q: Queue>(params: &Params) -> Result<Sample, BenchError> {
    overload::<Q>(params, |producer, value| producer.push_wait(value, WAIT), 0)
}

/// What the offers came to.
struct Offered {
    accepted: u64,
    in_calls_ns: u64,
    spent: Spent,
}

fn overload<Q: Queue>(
    params: &Params,
    offer: impl Fn(&mut Q::Producer, u64) -> bool + Send,
    every_ns: u64,
) -> Result<Sample, BenchError> {
    let (mut producers, consumer) = Q::open(Shape {
        slots: SLOTS,
        producers: 1,
        shards: 1,
    });
    let mut producer = producers.pop().ok_or(BenchError::Panicked)?;
    // Some rings keep a slot free, others have one more: full is where a push is refused.
    let filled = (0..2 * SLOTS as u64).take_while(|number| producer.push(*number));
    let filled = filled.count() as u64;
    let ops = params.ops;
    let (own, others) = places(params, On::Apart);
    let (start, over) = (Start::of(2), AtomicBool::new(false));
    let (start, over) = (&start, &over);
    let (offered, tally) = std::thread::scope(|scope| {
        let taking = scope.spawn(move || take(start, own, consumer, over));
        let offered = offer_all(start, others[0], ops, filled, every_ns, |number| {
            offer(&mut producer, number)
        });
        over.store(true, Ordering::Release);
        let tally = taking.join().map_err(|_| BenchError::Panicked)??;
        Ok::<_, BenchError>((offered?, tally))
    })?;
    // Numbers of refused offers are given again, so what was accepted has no gap.
    tally.check(filled + offered.accepted)?;
    let share = offered.accepted as f64 * 100.0 / ops as f64;
    let call_ns = offered.in_calls_ns as f64 / ops as f64;
    Ok(offered
        .spent
        .sample(share)
        .with_extra("ns an offer", call_ns))
}

fn offer_all(
    start: &Start,
    core: usize,
    ops: u64,
    filled: u64,
    every_ns: u64,
    mut offer: impl FnMut(u64) -> bool,
) -> Result<Offered, BenchError> {
    let pinned = start.pin(core);
    start.meet()?;
    pinned?;
    let meter = Meter::start();
    let begun_ns = clock_ns();
    let (mut accepted, mut in_calls_ns) = (0, 0);
    for number in 0..ops {
        let due_ns = begun_ns + number * every_ns;
        let mut now_ns = clock_ns();
        let patience = Patience::default();
        while now_ns < due_ns && patience.wait() {
            now_ns = clock_ns();
        }
        accepted += u64::from(offer(filled + accepted));
        in_calls_ns += clock_ns() - now_ns;
    }
    Ok(Offered {
        accepted,
        in_calls_ns,
        spent: meter.stop(ops),
    })
}

/// Takes a value in 5 µs until the offers are over, then all that is left.
fn take<C: Pull>(
    start: &Start,
    core: usize,
    mut consumer: C,
    over: &AtomicBool,
) -> Result<Tally, BenchError> {
    let pinned = start.pin(core);
    start.meet()?;
    pinned?;
    let mut tally = Tally::default();
    let mut due_ns = clock_ns();
    let patience = Patience::default();
    while !over.load(Ordering::Acquire) {
        if clock_ns() < due_ns {
            // Work, which no other thread gets; on one core it must be interruptible.
            if !patience.wait() {
                break;
            }
            continue;
        }
        patience.calm();
        due_ns += WORK_NS;
        if let Some(value) = consumer.pop() {
            tally.take(value);
        }
    }
    while consumer.pull(BATCH, |value| tally.take(value)) > 0 {}
    Ok(tally)
}
