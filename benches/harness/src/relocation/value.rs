//! The values that handles carry: numbered, so that a wrong one is seen.

use std::cell::Cell;

/// What every row shares. No other value that its thread made has its number.
#[derive(Debug)]
pub struct Value {
    number: u64,
}

impl Value {
    /// The next value of this thread.
    #[inline]
    pub fn new() -> Self {
        MADE.with(|made| {
            let number = made.get() + 1;
            made.set(number);
            Self { number }
        })
    }

    /// Its number, from 1.
    #[inline]
    pub fn number(&self) -> u64 {
        self.number
    }
}

impl Default for Value {
    fn default() -> Self {
        Self::new()
    }
}

thread_local! {
    static MADE: Cell<u64> = const { Cell::new(0) };
}

/// How many values the calling thread has made.
pub(super) fn made_here() -> u64 {
    MADE.with(Cell::get)
}
