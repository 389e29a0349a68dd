//! Where the threads of a round meet, and which cores they are on.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};

use super::Host;
use super::rows::On;
use crate::{BenchError, Cores, Params, allowed_cores, pin};

/// The threads of a round meet here, asleep, once each is on its core.
pub(crate) struct Start {
    barrier: Barrier,
    failed: AtomicBool,
}

impl Start {
    pub(crate) fn of(threads: usize) -> Self {
        Self {
            barrier: Barrier::new(threads),
            failed: AtomicBool::new(false),
        }
    }

    /// Pins the calling thread to `core`. Whatever the outcome, it must [`meet`](Self::meet) next.
    pub(crate) fn pin(&self, core: usize) -> Result<(), BenchError> {
        pin(core).inspect_err(|_| self.fail())
    }

    /// The round cannot be: whoever meets learns it.
    pub(crate) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Waits for all others; an error when one of them has failed.
    pub(crate) fn meet(&self) -> Result<(), BenchError> {
        // The barrier's lock orders the flag.
        self.barrier.wait();
        if self.failed.load(Ordering::Relaxed) {
            return Err(BenchError::Panicked);
        }
        Ok(())
    }
}

/// The meeting of one thread that enters a host.
pub(crate) struct Meet {
    start: Arc<Start>,
    met: Rc<Cell<Option<Result<(), BenchError>>>>,
}

impl Meet {
    /// Meets the others; once everything is set up.
    pub(crate) fn now(self) {
        self.met.set(Some(self.start.meet()));
    }
}

/// Pins the calling thread to `core` and has `run` enter a host there, which meets the others.
pub(crate) fn enter(
    start: &Arc<Start>,
    core: usize,
    run: impl FnOnce(Meet) -> Result<(), BenchError>,
) -> Result<(), BenchError> {
    let pinned = start.pin(core);
    let met = Rc::new(Cell::new(None));
    let ran = run(Meet {
        start: Arc::clone(start),
        met: Rc::clone(&met),
    });
    let met = met.take().unwrap_or_else(|| {
        // A host that did not start must not leave the others waiting.
        start.fail();
        start.meet()
    });
    pinned.and(ran).and(met)
}

/// Runs `tasks` on a host on `core`; the calling thread meets the others once all are spawned.
pub(super) fn host<H: Host, F: Future<Output = ()> + 'static>(
    start: &Arc<Start>,
    core: usize,
    tasks: Vec<F>,
) -> Result<(), BenchError> {
    enter(start, core, |meet| H::run(core, tasks, move || meet.now()))
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
