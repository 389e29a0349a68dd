//! Waking whoever waits, of whatever executor.
//!
//! What a shard keeps for a waiter may be any [`Waker`], and calling or dropping one is foreign
//! code. Rule: whoever takes wakers out of what they waited at wakes them through here, when all of
//! his own is done and nothing is borrowed, so that one that panics loses its own wake alone.

use std::task::Waker;

use super::waker;
use crate::error::contain;

/// Wakes whoever waits by `waker`. A panic of the waker is told as an error and goes no further.
///
/// For code that wakes others on behalf of one task, which is not to blame and must not be cut
/// short.
///
/// ```
/// use std::sync::Arc;
/// use std::task::{Wake, Waker};
///
/// struct Broken;
///
/// impl Wake for Broken {
///     fn wake(self: Arc<Self>) {
///         panic!("this executor has gone");
///     }
/// }
///
/// corelane::task::wake(Waker::from(Arc::new(Broken)));
/// ```
#[inline]
pub fn wake(waker: Waker) {
    if waker::token(&waker).is_some() {
        waker.wake();
    } else {
        wake_foreign(waker);
    }
}

fn wake_foreign(waker: Waker) {
    contain("a waker of another executor", || waker.wake());
}

/// Wakes all of them, whatever one of them does.
pub(crate) fn wake_all(wakers: impl IntoIterator<Item = Waker>) {
    wakers.into_iter().for_each(wake);
}

/// Drops a waker that nobody needs any more.
#[cold]
pub(crate) fn forget(waker: Waker) {
    contain("the drop of a waker of another executor", || drop(waker));
}
