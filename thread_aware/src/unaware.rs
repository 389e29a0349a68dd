//! The wrapper for values to which no core matters.

use core::{
    fmt,
    ops::{Deref, DerefMut},
};

use crate::{ThreadAware, affinity::Affinity};

/// A value that is moved as it is: relocating it does nothing.
///
/// It lets a type of another crate be part of a thread-aware value, and makes the choice visible
/// where it is made. It is for values that hold nothing of a core: no handle that other threads
/// count, no lock that they take. A value with such parts still works, but every core goes on
/// writing the same memory; put it into an `Arc` of this crate with a value a core instead.
/// Do not wrap what is thread-aware itself: its relocation would be lost.
///
/// It dereferences to the value and costs nothing.
///
/// ```
/// use thread_aware::{ThreadAware, Unaware, affinity::pinned_affinities};
///
/// /// A type of another crate.
/// struct Settings {
///     retries: u32,
/// }
///
/// let cores = pinned_affinities(&[2]);
/// let mut job = (Unaware(Settings { retries: 3 }), vec![1, 2]);
/// job.relocate(Some(cores[0]), cores[1]);
/// assert_eq!(job.0.retries, 3);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Unaware<T>(
    /// The value.
    pub T,
);

/// Wraps a value that is to be moved as it is.
///
/// ```
/// use thread_aware::unaware;
///
/// const LIMIT: thread_aware::Unaware<u8> = unaware(3);
/// assert_eq!(LIMIT.into_inner(), 3);
/// ```
#[must_use]
pub const fn unaware<T>(value: T) -> Unaware<T> {
    Unaware(value)
}

impl<T> Unaware<T> {
    /// Takes the value out.
    #[must_use]
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T: Send> ThreadAware for Unaware<T> {
    #[inline]
    fn relocate(&mut self, _: Option<Affinity>, _: Affinity) {}
}

impl<T> Deref for Unaware<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Unaware<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> From<T> for Unaware<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl<T: fmt::Display> fmt::Display for Unaware<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
