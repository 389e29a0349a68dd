//! The inputs that a run knows from its start.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use corelane_primitives::Consumer;

use super::desk::Feed;
use super::embedded::generate;
use super::intake::{Intake, Tally};
use super::reader::Piece;
use super::routes::Routes;
use super::run::{Run, unless_ended};
use crate::feed::{InputEnd, InputError};

/// An input, before its task starts.
#[derive(Debug)]
pub(super) enum Input {
    /// A recorded feed and the lane from its reader.
    Replay(PathBuf, Consumer<Piece>),
    /// One instrument of the embedded feed, and the rings to its owner.
    Embedded(Box<Feed>),
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
            Self::Embedded(feed) => generate(&run, *feed, tally).await,
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
