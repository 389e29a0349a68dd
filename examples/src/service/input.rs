//! The inputs that a run knows from its start.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use corelane::task::yield_now;
use corelane::time::sleep_until;
use corelane_primitives::Consumer;

use super::intake::{Intake, Pace, Tally};
use super::reader::Piece;
use super::routes::{Batch, Outbound, Routes};
use super::run::{Run, unless_ended};
use crate::feed::{Generator, INSTRUMENTS, InputEnd, InputError};

/// Updates that the embedded feed makes and sends at once.
const BATCH_MAX: usize = 64;

/// Updates a second of the embedded feed at `1x`, all instruments together.
const UPDATES_PER_S: u64 = 50_000;

/// How far apart the updates of one instrument are at `1x`.
const UPDATE_EVERY_NS: u64 = 1_000_000_000 * INSTRUMENTS.len() as u64 / UPDATES_PER_S;

/// An input, before its task starts.
#[derive(Debug)]
pub(super) enum Input {
    /// A recorded feed and the lane from its reader.
    Replay(PathBuf, Consumer<Piece>),
    /// One instrument of the embedded feed.
    Embedded(Generator),
}

impl Input {
    /// Runs the input until it or the run ends.
    pub(super) async fn run(self, run: Arc<Run>, tally: Rc<Tally>, routes: Rc<Routes>) {
        match self {
            Self::Replay(path, pieces) => {
                let name = path.display().to_string();
                let intake = Intake::new(Arc::clone(&run), tally, routes, name);
                replay(&run, intake, pieces).await;
            }
            Self::Embedded(feed) => generate(&run, feed, routes).await,
        }
        run.input_ended();
    }
}

async fn replay(run: &Run, mut intake: Intake, mut pieces: Consumer<Piece>) {
    while unless_ended(pieces.ready()).await == Some(true) {
        let piece = pieces.pop();
        pieces.notify();
        match piece {
            Some(Piece::Chunk(chunk)) => {
                if intake.take(&chunk).await.is_break() {
                    return;
                }
            }
            Some(Piece::End(end)) => {
                // What the last line lacks is the fault of a file that breaks off.
                if let Ok(InputEnd::Complete) | Err(InputError::TrailingData { .. }) = &end {
                    // The input is over, whether the run ends here or not.
                    let _ = intake.finish().await;
                }
                if let Err(error) = end {
                    run.fail(&error);
                }
                return;
            }
            None => unreachable!("the lane is ready"),
        }
    }
}

async fn generate(run: &Run, mut feed: Generator, routes: Rc<Routes>) {
    let mut outbound = Outbound::new(routes, BATCH_MAX);
    let mut pace = Pace::new(run.speed, run.start);
    let mut recorded_ns = 0;
    while !run.ends() {
        let due = pace.due(recorded_ns);
        if due.is_none() {
            recorded_ns += UPDATE_EVERY_NS;
            let update = feed.next().expect("the embedded feed has no end");
            if outbound.stage(update) == Batch::Open {
                continue;
            }
        }
        if outbound.flush().await.is_err() {
            // The owner's shard has failed, which ends the run by itself.
            return;
        }
        match due {
            None => yield_now().await,
            Some(due) => drop(unless_ended(sleep_until(due)).await),
        }
    }
    // What was made is applied, as what was read is, unless the owner's shard has failed.
    let _ = outbound.flush().await;
}
