//! Who waits for a task's output.

use std::cell::Cell;
use std::task::Waker;

use super::token::Token;
use super::{wake, waker};
use crate::shard::Context;

/// The one waiter: a task of the runtime by its token, or any other waker.
///
/// The token spares a count and a look for the current shard where a task waits for a task, which
/// is nearly always (bench row `spawn_join`).
pub(super) struct Joiner {
    /// [`Token::NONE`] without one.
    token: Cell<Token>,
    waker: Cell<Option<Waker>>,
}

impl Joiner {
    #[inline]
    pub(super) const fn new() -> Self {
        Self {
            token: Cell::new(Token::NONE),
            waker: Cell::new(None),
        }
    }

    /// Keeps the last caller's waker.
    #[inline]
    pub(super) fn set(&self, waker: &Waker) {
        match waker::token(waker) {
            Some(token) => self.token.set(token),
            None => self.set_foreign(waker),
        }
    }

    #[cold]
    fn set_foreign(&self, waker: &Waker) {
        self.token.set(Token::NONE);
        let same = self.waker.take().filter(|old| old.will_wake(waker));
        self.waker.set(Some(same.unwrap_or_else(|| waker.clone())));
    }

    /// Forgets the waiter.
    #[inline]
    pub(super) fn clear(&self) {
        if let Some(waker) = self.waker.take() {
            wake::forget(waker);
        }
    }

    /// Wakes the waiter, from the shard of `context`.
    #[inline]
    pub(super) fn wake(&self, context: &Context) {
        let token = self.token.replace(Token::NONE);
        if token != Token::NONE {
            context.wake_from(token);
        } else if let Some(waker) = self.waker.take() {
            wake::wake(waker);
        }
    }
}
