//! Going on when foreign code panics.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Runs several pieces of foreign code; a panic of one keeps none of the others from running.
#[derive(Default)]
pub(crate) struct Panics(Option<Box<dyn Any + Send>>);

impl Panics {
    /// Runs `piece` and keeps its panic, unless an earlier one has panicked: the first counts.
    pub(crate) fn run<R>(&mut self, piece: impl FnOnce() -> R) -> Option<R> {
        match catch_unwind(AssertUnwindSafe(piece)) {
            Ok(result) => Some(result),
            Err(panic) if self.0.is_none() => {
                self.0 = Some(panic);
                None
            }
            Err(panic) => {
                forget_panic(panic);
                None
            }
        }
    }

    /// Panics as the first piece did that panicked, unless the thread unwinds already: a second
    /// panic would end the process. The hook has told of each.
    pub(crate) fn resume(self) {
        match self.0 {
            Some(panic) if std::thread::panicking() => forget_panic(panic),
            Some(panic) => resume_unwind(panic),
            None => {}
        }
    }
}

/// What a panic carries is foreign code too; a second one from its drop is given up.
fn forget_panic(panic: Box<dyn Any + Send>) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(again);
    }
}
