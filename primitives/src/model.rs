//! What the models of `tests/loom_*.rs` ask of a model build. No part of the public interface.

use std::cell::Cell;
use std::sync::OnceLock;

loom::thread_local! {
    static STEPS: Cell<usize> = Cell::new(0);
}

/// Counts one access to shared memory by the current thread of the model.
pub(crate) fn count_step() {
    // After a thread's locals are gone nobody asks any more.
    let _ = STEPS.try_with(|steps| steps.set(steps.get() + 1));
}

/// How many accesses to shared atomics and fences the current thread of the model made so far.
pub fn steps() -> usize {
    STEPS.with(Cell::get)
}

/// Whether `CORELANE_WEAKEN` names this site, of this crate or of one above it.
pub fn is_weakened(site: &str) -> bool {
    static WEAKENED: OnceLock<Option<String>> = OnceLock::new();
    let named = WEAKENED.get_or_init(|| std::env::var("CORELANE_WEAKEN").ok());
    named.as_deref() == Some(site)
}

/// The names that `CORELANE_WEAKEN` understands.
pub fn sites() -> &'static [&'static str] {
    crate::sync::Site::NAMES
}
