//! Loads a lane, a ring, a topic and the calls between two shards for long, and counts: nothing
//! may be lost, doubled or out of order.
//!
//! All of it runs at once, so that each part is the load of the others: a lane with 10^9 numbers in
//! a row from shard 0 to shard 1, in batches of changing sizes through every way in and out; a ring
//! with two producers on each shard, whose order the consumer checks one by one; 10^7
//! calls each way, whose numbers the target checks for order and the caller for answers; a topic
//! with quick and slow readers at both shards, each of which accounts for every message; and on
//! each shard tasks that only start tasks. `--short` is a hundredth of that. Of the ring's values
//! 10^8 are the default, and of messages 10^6, since the slowest reader sets the pace;
//! `--values 1000000000` and `--messages 100000000` are the long forms.
//!
//! The status is 0 when all counts are exact, else 1.

#![forbid(unsafe_code)]

mod ring;
mod topic;

use std::collections::VecDeque;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use clap::Parser;
use corelane::task::yield_now;
use corelane::time::Instant;
use corelane::{Runtime, Shard, SubmitError};
use corelane_examples::feed::{Driver, Idle};
use corelane_primitives::{Consumer, Producer, lane};

/// Counts what goes through a lane, a ring, a topic and calls between shards, under load
#[derive(Clone, Debug, Parser)]
#[command(name = "soak", version)]
struct Options {
    /// A hundredth of the default amounts
    #[arg(long)]
    short: bool,

    /// Numbers through the lane
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000)]
    elements: u64,

    /// Values through the ring
    #[arg(long, value_name = "N", default_value_t = 100_000_000)]
    values: u64,

    /// Calls each way
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    submits: u64,

    /// Messages through the topic
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    messages: u64,

    /// The I/O driver
    #[arg(long, value_enum, default_value_t)]
    driver: Driver,

    /// What a shard without work does
    #[arg(long, value_enum, default_value_t)]
    idle: Idle,
}

/// Slots of the lane.
const LANE_SLOTS: usize = 1024;
/// Elements between two chances for the other tasks of a shard.
const YIELD_EVERY: u64 = 1024;
/// Calls of one shard that wait for their answers at most.
const CALLS_WAITING_MAX: usize = 256;
/// A run that does not get on for so long hangs.
const STANDSTILL: Duration = Duration::from_secs(60);

/// How far the parts are: what a part checks goes by its own variables, this is for the watch.
#[derive(Debug, Default)]
struct Progress {
    elements: AtomicU64,
    /// Values out of the ring.
    ring: AtomicU64,
    /// Messages that readers of the topic have taken.
    messages: AtomicU64,
    /// Calls carried out on the other shard, by the index of the caller.
    calls: [AtomicU64; 2],
    disorder: AtomicU64,
}

/// What one part found.
#[derive(Debug)]
struct Found {
    what: String,
    expected: u64,
    counted: u64,
    wrong: u64,
    seconds: f64,
}

fn main() -> ExitCode {
    tracing_subscriber::fmt().with_writer(io::stderr).init();
    let mut options = Options::parse();
    if options.short {
        options.elements /= 100;
        options.values /= 100;
        options.submits /= 100;
        options.messages /= 100;
    }
    let progress = Arc::new(Progress::default());
    let (ended, watched) = channel::<()>();
    let seen = Arc::clone(&progress);
    let watch = thread::spawn(move || {
        let mut last = u64::MAX;
        while watched.recv_timeout(STANDSTILL) == Err(RecvTimeoutError::Timeout) {
            let now = seen.total();
            if now == last {
                say(&format!("nothing has moved for {STANDSTILL:?}: {seen:?}"));
                std::process::exit(1);
            }
            last = now;
        }
    });
    let found = Runtime::builder()
        .shards(2)
        .driver(options.driver.into())
        .idle(options.idle.into())
        .run(move || soak(options, progress));
    drop(ended);
    watch.join().expect("the watch does not panic");
    let found = match found {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => return fail(&error),
        Err(error) => return fail(&error),
    };
    let mut status = ExitCode::SUCCESS;
    for found in found {
        say(&found.line());
        if found.wrong > 0 || found.counted != found.expected {
            status = ExitCode::from(1);
        }
    }
    status
}

fn fail(error: &dyn std::fmt::Display) -> ExitCode {
    say(&format!("failed: {error}"));
    ExitCode::from(1)
}

impl Progress {
    fn total(&self) -> u64 {
        let calls: u64 = self.calls.iter().map(|n| n.load(Ordering::Relaxed)).sum();
        let messages = self.messages.load(Ordering::Relaxed);
        let ring = self.ring.load(Ordering::Relaxed);
        calls + messages + ring + self.elements.load(Ordering::Relaxed)
    }
}

impl Found {
    fn line(&self) -> String {
        let Self {
            what,
            expected,
            counted,
            wrong,
            seconds,
        } = self;
        let rate = *counted as f64 / seconds / 1e6;
        format!("{what:<12} {counted} of {expected}, {wrong} wrong, {seconds:.1} s, {rate:.2} M/s")
    }
}

/// Runs all parts at once.
async fn soak(options: Options, progress: Arc<Progress>) -> Result<Vec<Found>, SubmitError> {
    let shards = corelane::shards();
    let [here, there] = &shards[..] else {
        unreachable!("the builder was asked for two shards")
    };
    let (producer, consumer) = lane(LANE_SLOTS);
    corelane::spawn(send(producer, options.elements)).detach();
    let seen = Arc::clone(&progress);
    let received = there.submit(move || receive(consumer, options.elements, seen));
    let (away, back) = (Arc::clone(&progress), Arc::clone(&progress));
    let called = here.submit({
        let there = there.clone();
        move || call(there, options.submits, away, 0)
    });
    let called_back = there.submit({
        let here = here.clone();
        move || call(here, options.submits, back, 1)
    });
    let seen = Arc::clone(&progress);
    let rung = ring::soak(here.clone(), there.clone(), options.values, seen);
    let rung = corelane::spawn(rung);
    let seen = Arc::clone(&progress);
    let published = topic::soak(here.clone(), there.clone(), options.messages, seen);
    let published = corelane::spawn(published);
    for shard in [here, there] {
        // Dropped at the end with the shard: it has no end of its own.
        let churning = shard.submit(|| async { corelane::spawn(churn()).detach() });
        churning.await?;
    }
    let mut found = vec![received.await?, called.await?, called_back.await?];
    found[1].what = "calls 0 to 1".to_owned();
    found[2].what = "calls 1 to 0".to_owned();
    found.push(rung.await.expect("the ring's task does not panic")?);
    found.extend(published.await.expect("the publisher does not panic")?);
    Ok(found)
}

/// How many elements the batch that starts at `next` has, from 1 to 64 and seldom a whole lane.
fn batch(next: u64) -> usize {
    // The upper bits of a multiplicative hash are spread well (Knuth, volume 3, section 6.4).
    let hash = next.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
    match hash {
        0 => LANE_SLOTS,
        hash => 1 + hash as usize % 64,
    }
}

async fn send(mut lane: Producer<u64>, elements: u64) {
    let (mut next, mut yielded) = (0, 0);
    while next < elements {
        let size = batch(next).min((elements - next) as usize);
        if lane.room(size.min(LANE_SLOTS / 2)).await.is_err() {
            // The receiver has failed, and says so itself.
            return;
        }
        next += match next % 3 {
            0 => lane.push_batch(&mut (next..next + size as u64)) as u64,
            1 => {
                let mut chunk = lane.write_chunk(size);
                let mut filled = 0;
                while chunk.push(next + filled).is_ok() {
                    filled += 1;
                }
                chunk.commit() as u64
            }
            _ => u64::from(lane.push(next).is_ok()),
        };
        lane.notify();
        if next >= yielded + YIELD_EVERY {
            yielded = next;
            yield_now().await;
        }
    }
}

/// Takes numbers in a row and counts those that are not.
async fn receive(mut lane: Consumer<u64>, elements: u64, progress: Arc<Progress>) -> Found {
    let start = Instant::now();
    let (mut counted, mut wrong, mut yielded) = (0, 0, 0);
    let mut taken = Vec::new();
    while lane.ready().await {
        let size = batch(counted + 1);
        let mut check = |value: u64| {
            wrong += u64::from(value != counted);
            counted += 1;
        };
        match size % 3 {
            0 => lane.read_chunk(size).for_each(check),
            1 => {
                lane.pop_batch(&mut taken, size);
                taken.drain(..).for_each(check);
            }
            _ => lane.pop().into_iter().for_each(&mut check),
        }
        lane.notify();
        progress.elements.store(counted, Ordering::Relaxed);
        if counted >= yielded + YIELD_EVERY {
            yielded = counted;
            yield_now().await;
        }
    }
    Found {
        what: "lane".to_owned(),
        expected: elements,
        counted,
        wrong,
        seconds: start.elapsed().as_secs_f64(),
    }
}

/// Calls `target` with numbers in a row. It counts those out of order, and this side wrong answers.
async fn call(target: Shard, submits: u64, progress: Arc<Progress>, caller: usize) -> Found {
    let start = Instant::now();
    let (mut counted, mut wrong, mut waiting) = (0, 0, VecDeque::new());
    let mut sent = 0;
    while counted < submits {
        while sent < submits && waiting.len() < CALLS_WAITING_MAX {
            let (number, seen) = (sent, Arc::clone(&progress));
            let answer = target.submit(move || async move {
                // Only the target's shard changes this one, so load and store do.
                let before = seen.calls[caller].load(Ordering::Relaxed);
                if before != number {
                    seen.disorder.fetch_add(1, Ordering::Relaxed);
                }
                seen.calls[caller].store(before + 1, Ordering::Relaxed);
                !number
            });
            waiting.push_back((sent, answer));
            sent += 1;
        }
        let Some((number, answer)) = waiting.pop_front() else {
            break;
        };
        wrong += u64::from(!matches!(answer.await, Ok(answer) if answer == !number));
        counted += 1;
    }
    // Carried out more or less often than answered is wrong too.
    let carried_out = progress.calls[caller].load(Ordering::Relaxed);
    wrong += carried_out.abs_diff(counted) + progress.disorder.load(Ordering::Relaxed);
    Found {
        what: String::new(),
        expected: submits,
        counted,
        wrong,
        seconds: start.elapsed().as_secs_f64(),
    }
}

/// Starts tasks that start nothing, for ever.
async fn churn() {
    loop {
        let task = corelane::spawn(yield_now());
        task.await.expect("the task does not panic");
    }
}

fn say(text: &str) {
    // Nobody is left to be told when standard output is gone; the status says it too.
    let _ = writeln!(io::stdout(), "{text}");
}
