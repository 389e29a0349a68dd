//! What the models of `tests/loom_*.rs` ask of a model build. No part of the public interface.

use crate::sync::Numbers;
use std::{
    cell::{Cell, RefCell},
    vec::Vec,
};

loom::thread_local! {
    static WRITES: RefCell<Vec<usize>> = RefCell::new(Vec::new());
    static READS: Cell<usize> = Cell::new(0);
    static NUMBER: u64 = NUMBERS.next();
}

static NUMBERS: Numbers = Numbers::new();

/// A number for the current thread of the model. It is never used again, in no execution either.
pub(crate) fn thread_number() -> u64 {
    NUMBER.with(|number| *number)
}

/// Notes that the current thread of the model wrote the atomic at this place.
pub(crate) fn note_write<T>(place: *const T) {
    // After a thread's locals are gone nobody asks any more.
    let _ = WRITES.try_with(|writes| writes.borrow_mut().push(place.addr()));
}

/// Notes that the current thread of the model read an atomic.
pub(crate) fn note_read() {
    let _ = READS.try_with(|reads| reads.set(reads.get() + 1));
}

/// How many loads of atomics the current thread of the model made since it last asked.
pub fn reads() -> usize {
    READS.with(|reads| reads.take())
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
