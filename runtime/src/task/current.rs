//! The way from anywhere on a shard's thread to its context.
//!
//! `thread_aware::affinity` alone says what is entered. What is kept here is the pointer that it
//! gave for one entry, and it is used for as long as that entry is in place: looking again compares
//! types and counts, which is a third of a wake (bench rows `yield`, `spawn_join`).

use std::cell::Cell;
use std::ptr;

use thread_aware::affinity;

use crate::shard::Context;

#[derive(Clone, Copy)]
struct Found {
    entry: u64,
    context: *const Context,
}

thread_local! {
    static FOUND: Cell<Found> = const { Cell::new(Found { entry: 0, context: ptr::null() }) };
}

/// Calls `f` with the shard that this thread is in, if it is in one.
#[inline]
pub(crate) fn with_current<R>(f: impl FnOnce(&Context) -> R) -> Option<R> {
    let found = FOUND.get();
    let entry = affinity::entry();
    // `f` is called in one place and never handed on, so that a future in it can be written
    // straight to where it lives (bench row `spawn_join`).
    let context = if entry == 0 || found.entry != entry {
        look(entry)?
    } else {
        found.context
    };
    // SAFETY: Valid: the context was found for this very entry, which holds it, and entries are
    // left by the loop that runs the shard alone, not while a call from inside it lasts. Exclusive:
    // a context is only ever shared.
    Some(f(unsafe { &*context }))
}

#[cold]
fn look(entry: u64) -> Option<*const Context> {
    affinity::with_context(|context: Option<&Context>| {
        let context: *const Context = context?;
        FOUND.set(Found { entry, context });
        Some(context)
    })
}
