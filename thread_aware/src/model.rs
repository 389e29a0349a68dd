//! What the models of `tests/loom_*.rs` ask of a model build. No part of the public interface.

use std::{cell::RefCell, vec::Vec};

loom::thread_local! {
    static WRITES: RefCell<Vec<usize>> = RefCell::new(Vec::new());
}

/// Notes that the current thread of the model wrote the atomic at this place.
pub(crate) fn note_write<T>(place: *const T) {
    // After a thread's locals are gone nobody asks any more.
    let _ = WRITES.try_with(|writes| writes.borrow_mut().push(place.addr()));
}

/// The addresses of the shared atomics that the current thread of the model wrote since it last
/// asked, one a write.
pub fn writes() -> Vec<usize> {
    WRITES.with(|writes| writes.take())
}

/// The names that `CORELANE_WEAKEN` understands.
pub fn sites() -> &'static [&'static str] {
    crate::sync::Site::NAMES
}
