//! Who waits for a task's output.

use std::cell::Cell;
use std::task::Waker;

use super::token::Token;
use super::waker;
use crate::shard::Context;

/// The one waiter: a task of the runtime by its token, or any other waker.
///
/// The token spares a count and a look for the current shard where a task waits for a task, which
/// is nearly always (bench row `spawn_join`).
#[derive(Default)]
pub(super) struct Joiner {
    token: Cell<Option<Token>>,
    waker: Cell<Option<Waker>>,
}

impl Joiner {
    /// Keeps the last caller's waker.
    #[inline]
    pub(super) fn set(&self, waker: &Waker) {
        let token = waker::token(waker);
        self.token.set(token);
        if token.is_none() {
            let same = self.waker.take().filter(|old| old.will_wake(waker));
            self.waker.set(Some(same.unwrap_or_else(|| waker.clone())));
        }
    }

    /// Wakes the waiter, from the shard of `context`.
    #[inline]
    pub(super) fn wake(&self, context: &Context) {
        if let Some(token) = self.token.take() {
            context.wake_from(token);
        } else if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Forgets the waiter.
    #[inline]
    pub(super) fn clear(&self) {
        self.token.set(None);
        drop(self.waker.take());
    }
}
