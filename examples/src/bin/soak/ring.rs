//! The ring: producers on both shards, and a consumer that checks each one's order.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use corelane::task::yield_now;
use corelane::time::Instant;
use corelane::{Shard, SubmitError};
use corelane_primitives::{Consumer64, Ring64};

use super::{Found, Progress, YIELD_EVERY, batch};

const SLOTS: usize = 4096;
/// Two on each shard.
const PRODUCERS: u64 = 4;
/// Bits of a value that are its number; its producer stands above.
const NUMBER_BITS: u32 = 56;
/// Values that one fold takes at most.
const FOLD_MAX: usize = 512;

/// Sends `values` through one ring, from tasks on both shards to one on `here`.
pub(super) async fn soak(
    here: Shard,
    there: Shard,
    values: u64,
    progress: Arc<Progress>,
) -> Result<Found, SubmitError> {
    let (ring, consumer) = Ring64::new(SLOTS);
    let each = values / PRODUCERS;
    let mut sent = Vec::new();
    for producer in 0..PRODUCERS {
        let shard = if producer % 2 == 0 { &here } else { &there };
        let ring = ring.clone();
        sent.push(shard.submit(move || send(ring, producer, each)));
    }
    drop(ring);
    let taken = here.submit(move || take(consumer, each, progress)).await?;
    for sent in sent {
        sent.await?;
    }
    Ok(taken)
}

/// Pushes a producer's numbers in a row, by each of the ways in.
async fn send(ring: Ring64, producer: u64, values: u64) {
    let value = |number| producer << NUMBER_BITS | number;
    let (mut next, mut yielded) = (0, 0);
    let mut run = Vec::new();
    while next < values {
        let pushed = match next % 3 {
            0 => {
                let size = (batch(next) as u64).min(values - next);
                run.clear();
                run.extend((next..next + size).map(value));
                ring.push_batch(&run).unwrap_or(0) as u64
            }
            1 => u64::from(ring.push(value(next)).is_ok()),
            _ => u64::from(ring.push_wait(value(next), Duration::MAX).await.is_ok()),
        };
        if ring.is_closed() {
            return; // the consumer has failed, and says so itself
        }
        next += pushed;
        if pushed == 0 || next >= yielded + YIELD_EVERY {
            yielded = next;
            yield_now().await;
        }
    }
}

/// Takes everything, and counts what is not its producer's next number.
async fn take(mut consumer: Consumer64, each: u64, progress: Arc<Progress>) -> Found {
    let start = Instant::now();
    let (mut next, mut wrong, mut yielded) = ([0; PRODUCERS as usize], 0, 0);
    let mut counted = 0;
    while consumer.ready().await {
        let folded = consumer.fold(FOLD_MAX, 0, |wrong, value| {
            let number = value & ((1 << NUMBER_BITS) - 1);
            match next.get_mut((value >> NUMBER_BITS) as usize) {
                Some(next) if *next == number => {
                    *next += 1;
                    wrong
                }
                _ => wrong + 1,
            }
        });
        wrong += folded.acc + folded.skipped;
        counted += folded.consumed as u64;
        progress.ring.store(counted, Ordering::Relaxed);
        if counted >= yielded + YIELD_EVERY {
            yielded = counted;
            yield_now().await;
        }
    }
    Found {
        what: "ring".to_owned(),
        expected: each * PRODUCERS,
        counted,
        wrong,
        seconds: start.elapsed().as_secs_f64(),
    }
}
