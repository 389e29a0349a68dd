//! What all shards of one run share, and how it ends.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use corelane::shutdown;
use corelane::task::{Either, either};
use corelane::time::Instant;

use super::console::Voice;
use crate::feed::Speed;

/// What all shards of one run share.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) speed: Speed,
    pub(super) strict: bool,
    /// From which the times of the inputs count.
    pub(super) start: Instant,
    pub(super) voice: Voice,
    // Relaxed all of them: each says one thing by itself.
    ends: AtomicBool,
    failed: AtomicBool,
    open_inputs: AtomicUsize,
}

impl Run {
    /// A run that ends by itself when `inputs` of them have ended.
    pub(super) fn new(speed: Speed, strict: bool, inputs: usize, voice: Voice) -> Self {
        Self {
            speed,
            strict,
            start: Instant::now(),
            voice,
            ends: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            open_inputs: AtomicUsize::new(inputs),
        }
    }

    /// Lets the run end: inputs stop, and what has been decoded goes its way.
    ///
    /// # Panics
    ///
    /// Outside of the shards.
    pub(super) fn end(&self) {
        self.ends.store(true, Ordering::Relaxed);
        shutdown::trigger();
    }

    /// Whether inputs are to stop.
    pub(super) fn ends(&self) -> bool {
        self.ends.load(Ordering::Relaxed)
    }

    /// Says what went wrong with a part of the run. The others go on; the status will be 2.
    pub(super) fn fail(&self, what: &dyn std::fmt::Display) {
        self.failed.store(true, Ordering::Relaxed);
        self.voice.warn(what);
    }

    /// Whether a part of the run has failed.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// One input is over; the last one ends the run.
    pub(super) fn input_ended(&self) {
        if self.open_inputs.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.end();
        }
    }
}

/// Waits for `future`, or gives it up for the end of the run.
pub(super) async fn unless_ended<F: Future>(future: F) -> Option<F::Output> {
    match either(shutdown::wait(), future).await {
        Either::Left(()) => None,
        Either::Right(output) => Some(output),
    }
}
