//! What a full or closed thing answers. The value always comes back.

use std::error::Error;
use std::fmt;

/// Every slot is taken; the value comes back in field 0.
///
/// Only a fault of timing: the same call succeeds once the other end has made room, unless that end
/// is gone (see [`Producer::is_abandoned`](crate::Producer::is_abandoned)).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Full<T>(pub T);

impl<T> Full<T> {
    /// Gives the refused value back.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> fmt::Debug for Full<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Full(..)")
    }
}

impl<T> fmt::Display for Full<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("every slot is taken")
    }
}

impl<T> Error for Full<T> {}

/// It is closed, or its other end is gone; a value that was on its way comes back in field 0.
///
/// No later call succeeds. Errors of calls that may fail otherwise are made of it by `From`, so `?`
/// takes it where they are expected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Closed<T = ()>(pub T);

impl<T> Closed<T> {
    /// Gives the refused value back.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> fmt::Debug for Closed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Closed(..)")
    }
}

impl<T> fmt::Display for Closed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is closed, or the other end is gone")
    }
}

impl<T> Error for Closed<T> {}
