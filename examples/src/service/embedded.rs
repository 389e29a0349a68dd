//! The decoder of one instrument of the embedded feed.

use std::ops::ControlFlow;
use std::rc::Rc;

use corelane::task::yield_now;
use corelane::time::{Instant, sleep_until};

use super::desk::Feed;
use super::intake::{Pace, Tally};
use super::routes::Timed;
use super::run::{Run, unless_ended};
use crate::feed::{INSTRUMENTS, Speed, Update};
use crate::words::{Unsent, WordError};

/// Updates that the embedded feed makes and sends at once.
const BATCH_MAX: usize = 64;

/// Updates a second of the embedded feed at `1x`, all instruments together.
const UPDATES_PER_S: u64 = 50_000;

/// How far apart the updates of one instrument are at `1x`.
const UPDATE_EVERY_NS: u64 = 1_000_000_000 * INSTRUMENTS.len() as u64 / UPDATES_PER_S;

/// Makes, packs and sends until the run ends.
pub(super) async fn generate(run: &Run, mut feed: Feed, tally: Rc<Tally>) {
    let mut batch = Batch::new(run);
    while !run.ends() {
        if let Err(error) = feed.quoter.answer() {
            count(run, &tally, &error);
        }
        if run.speed == Speed::Max && unless_ended(feed.room()).await.is_none() {
            break;
        }
        let due = batch.make(run, &mut feed, &tally);
        if batch.send(run, &mut feed, &tally).await.is_break() {
            // The owner's shard has failed, which ends the run by itself.
            return;
        }
        match due {
            None => yield_now().await,
            Some(due) => drop(unless_ended(sleep_until(due)).await),
        }
    }
    if let Err(error) = feed.quoter.finish() {
        count(run, &tally, &error);
    }
}

fn count(run: &Run, tally: &Tally, error: &WordError) {
    tally.malformed.set(tally.malformed.get() + 1);
    run.voice.warn(&format!("the embedded feed: {error}"));
}

/// What is made at once.
struct Batch {
    pace: Pace,
    recorded_ns: u64,
    begun: Instant,
    fills: Vec<Update>,
}

impl Batch {
    fn new(run: &Run) -> Self {
        Self {
            pace: Pace::new(run.speed, run.start),
            recorded_ns: 0,
            begun: run.start,
            fills: Vec::new(),
        }
    }

    /// Makes what is due, up to a whole batch; says when the next one is due if not now.
    fn make(&mut self, run: &Run, feed: &mut Feed, tally: &Tally) -> Option<Instant> {
        for number in 0..BATCH_MAX {
            let due = self.pace.due(self.recorded_ns);
            if due.is_some() {
                return due;
            }
            self.recorded_ns += UPDATE_EVERY_NS;
            if number == 0 {
                self.begun = Instant::now();
            }
            let update = feed.quoter.feed().next();
            match update.expect("the embedded feed has no end") {
                Update::Depth(depth) => {
                    if let Err(error) = feed.quoter.stage(&depth) {
                        count(run, tally, &error);
                    }
                }
                fill => self.fills.push(fill),
            }
        }
        None
    }

    /// Pushes the words, as far as there is room, and sends the fills, which wait for it.
    async fn send(&mut self, run: &Run, feed: &mut Feed, tally: &Tally) -> ControlFlow<()> {
        let decoded = self.begun;
        if feed.quoter.send(decoded.as_nanos()).is_err() {
            return ControlFlow::Break(());
        }
        for update in self.fills.drain(..) {
            let losses = &tally.fills;
            match feed.fills.send(Timed { decoded, update }).await {
                Ok(()) => {}
                Err(Unsent::Closed(_)) => return ControlFlow::Break(()),
                Err(Unsent::Broken(_)) => losses.update(|mut losses| {
                    losses.broken += 1;
                    losses
                }),
                Err(late) => {
                    run.voice.warn(&late);
                    let tripped = matches!(late, Unsent::Tripped(_));
                    losses.update(|mut losses| {
                        losses.timed_out += 1;
                        losses.trips += u64::from(tripped);
                        losses
                    });
                }
            }
        }
        ControlFlow::Continue(())
    }
}
