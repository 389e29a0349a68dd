//! What every way to keep a signal's value does.

use std::fmt;
use std::sync::Arc;

/// The number of a value of a signal or subscription: 0 for the first one, and one more for each
/// that was set after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub(crate) u64);

impl Version {
    /// The number itself.
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Which value is the newest, and whether it is the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub(crate) version: Version,
    pub(crate) is_last: bool,
}

/// Whether more values may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    More,
    Nothing,
}

/// A place for the newest value. Each change is one atomic step, and none follows the last one.
pub trait Keep<T> {
    /// Which value is the newest.
    fn mark(&self) -> Mark;

    /// Lends the newest value, with what it is, as one unit.
    fn read<R>(&self, read: impl FnOnce(Mark, &T) -> R) -> R;

    /// The newest value, shared or as a copy.
    fn get(&self) -> Arc<T>;

    /// Puts `value` in place of the newest one, or gives it back when that is the last.
    fn put(&self, value: T, follow: Follow) -> Result<Version, T>;

    /// Puts what `next` makes of the newest value in its place; nothing when that is the last.
    fn replace(&self, next: impl FnMut(&T) -> T) -> Option<Version>;

    /// Makes the newest value the last one.
    fn close(&self);

    /// How many blocks of slots were added.
    fn blocks_added(&self) -> u64 {
        0
    }
}
