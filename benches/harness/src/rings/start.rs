//! Where the threads of a round meet, and which cores they are on.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};

use super::Host;
use super::rows::On;
use crate::{BenchError, Cores, Params, allowed_cores, pin};

/// The threads of a round meet here, asleep, once each is on its core.
pub(super) struct Start {
    barrier: Barrier,
    failed: AtomicBool,
}

impl Start {
    pub(super) fn of(threads: usize) -> Self {
        Self {
            barrier: Barrier::new(threads),
            failed: AtomicBool::new(false),
        }
    }

    /// Pins the calling thread to `core`. Whatever the outcome, it must [`meet`](Self::meet) next.
    pub(super) fn pin(&self, core: usize) -> Result<(), BenchError> {
        pin(core).inspect_err(|_| self.fail())
    }

    /// The round cannot be: whoever meets learns it.
    pub(super) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Waits for all others; an error when one of them has failed.
    pub(super) fn meet(&self) -> Result<(), BenchError> {
        // The barrier's lock orders the flag.
        self.barrier.wait();
        if self.failed.load(Ordering::Relaxed) {
            return Err(BenchError::Panicked);
        }
        Ok(())
    }
}

/// Runs `tasks` on a host on `core`; the calling thread meets the others once all are spawned.
pub(super) fn host<H: Host, F: Future<Output = ()> + 'static>(
    start: &Arc<Start>,
    core: usize,
    tasks: Vec<F>,
) -> Result<(), BenchError> {
    let pinned = start.pin(core);
    let met = Rc::new(Cell::new(None));
    let (meets, here) = (Rc::clone(&met), Arc::clone(start));
    let ran = H::run(core, tasks, move || meets.set(Some(here.meet())));
    let met = met.take().unwrap_or_else(|| {
        // A host that did not start must not leave the others waiting.
        start.fail();
        start.meet()
    });
    pinned.and(ran).and(met)
}

/// The consumer's core, and the producers'.
pub(super) fn places(params: &Params, on: On) -> (usize, Vec<usize>) {
    let Cores { first, second } = params.cores;
    if on == On::OneCore {
        return (first, vec![first]);
    }
    let mut others = allowed_cores();
    others.retain(|core| *core != first);
    if others.is_empty() {
        others.push(second);
    }
    (first, others)
}
