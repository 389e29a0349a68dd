//! The values that handles carry: numbered, so that a wrong one is seen.

use std::cell::Cell;

/// What every row shares. No other value that its thread made has its number.
#[derive(Debug)]
pub struct Value {
    number: u64,
    maker: usize,
}

impl Value {
    /// The next value of this thread.
    #[inline]
    pub fn new() -> Self {
        MADE.with(|made| {
            let number = made.get() + 1;
            made.set(number);
            let maker = std::ptr::from_ref(made).addr();
            Self { number, maker }
        })
    }

    /// Its number, from 1.
    #[inline]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Whether the calling thread made it, if its maker still lives.
    pub(super) fn is_made_here(&self) -> bool {
        MADE.with(|made| std::ptr::from_ref(made).addr() == self.maker)
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
