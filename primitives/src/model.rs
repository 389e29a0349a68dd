//! What the models of `tests/loom_*.rs` ask of a model build. No part of the public interface.

use loom::sync::atomic::{AtomicUsize, Ordering};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::ThreadId;

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

/// One word for each running model that watches its fences, under the thread that it runs on.
static FENCES: Mutex<Option<HashMap<ThreadId, &'static AtomicUsize>>> = Mutex::new(None);

/// From here on to the end of this execution loom takes threads off their cores before fences, too,
/// and tries fences in every order, neither of which it does by itself. Call it first.
pub fn watch_fences() {
    // Leaked, since it must not outlive its execution as a value: loom would look at it.
    let word: &'static AtomicUsize = Box::leak(Box::new(AtomicUsize::new(0)));
    let mut fences = FENCES.lock().unwrap_or_else(PoisonError::into_inner);
    let fences = fences.get_or_insert_default();
    fences.insert(std::thread::current().id(), word);
}

/// Ends what [`watch_fences`] began, once all executions of a model are done.
pub fn ignore_fences() {
    let mut fences = FENCES.lock().unwrap_or_else(PoisonError::into_inner);
    fences
        .get_or_insert_default()
        .remove(&std::thread::current().id());
}

/// Changes the word that all fences of the running model change. Being Relaxed, it orders nothing.
#[track_caller]
pub(crate) fn meet_fence() {
    let word = {
        let fences = FENCES.lock().unwrap_or_else(PoisonError::into_inner);
        let this = std::thread::current().id();
        fences
            .as_ref()
            .and_then(|fences| fences.get(&this).copied())
    };
    if let Some(word) = word {
        word.fetch_add(1, Ordering::Relaxed);
    }
}
