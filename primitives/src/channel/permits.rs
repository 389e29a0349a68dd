//! Places that are taken before the values are there.

use super::passage::{AsIs, Passage};
use super::shared::Shared;
use crate::{Closed, SendError};
use std::fmt;

/// Places in a channel that nobody else can take, made by
/// [`Sender::reserve`](crate::Sender::reserve) and
/// [`Sender::try_reserve`](crate::Sender::try_reserve).
///
/// They are places, and no positions: items are received in the order in which they are sent.
/// Dropping this gives the places back that were not used, at once.
///
/// ```
/// use corelane_primitives::{SendError, channel};
///
/// let (sender, mut receiver) = channel(3);
/// let mut permits = sender.try_reserve(2).expect("there is room");
/// assert_eq!(permits.send("a"), Ok(()));
/// assert_eq!(sender.try_send("b"), Ok(()));
/// assert_eq!(sender.try_send("c"), Err(SendError::Full("c")));
/// drop(permits);
/// assert_eq!(sender.try_send("c"), Ok(()));
/// assert_eq!(receiver.try_recv(), Ok("a"));
/// ```
#[must_use = "permits that are dropped at once are given back"]
pub struct Permits<'a, T, P: Passage<T> = AsIs> {
    shared: &'a Shared<T, P>,
    left: usize,
}

impl<'a, T, P: Passage<T>> Permits<'a, T, P> {
    /// The caller has taken `count` credits, which go over to this, or back when the channel is
    /// closed.
    pub(super) fn new(shared: &'a Shared<T, P>, count: usize) -> Result<Self, Closed> {
        let permits = Self {
            shared,
            left: count,
        };
        if shared.is_closed() {
            return Err(Closed(()));
        }
        Ok(permits)
    }

    /// Sends `value` into one of the places. It never waits.
    ///
    /// # Errors
    ///
    /// [`SendError::Full`] when no place is left, and [`SendError::Closed`].
    ///
    /// # Panics
    ///
    /// If the receiver's waker does. The value is sent all the same.
    pub fn send(&mut self, value: T) -> Result<(), SendError<T>> {
        if self.left == 0 {
            return Err(SendError::Full(value));
        }
        self.left -= 1;
        let sent = self.shared.push(value);
        sent.map_err(SendError::from)
    }

    /// How many places are left.
    pub fn len(&self) -> usize {
        self.left
    }

    /// Whether no place is left.
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }
}

impl<T, P: Passage<T>> Drop for Permits<'_, T, P> {
    fn drop(&mut self) {
        if self.left > 0 {
            self.shared.give(self.left);
        }
    }
}

impl<T, P: Passage<T>> fmt::Debug for Permits<'_, T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permits").field("len", &self.left).finish()
    }
}
