//! How items pass a channel: as they are, or told that they have moved.

use thread_aware::ThreadAware;
use thread_aware::affinity::{self, Affinity};

/// How the items of a channel pass it: [`AsIs`] or [`Relocating`]. There are no others.
pub trait Passage<T>: sealed::Sealed {
    /// What stands in the channel for one item.
    type Item;

    #[doc(hidden)]
    fn pack(value: T) -> Self::Item;

    #[doc(hidden)]
    fn refuse(item: Self::Item) -> T;

    #[doc(hidden)]
    fn arrive(item: Self::Item) -> T;
}

/// Items pass as they are.
#[derive(Debug)]
pub struct AsIs(());

/// Items are relocated, each once, from where it was sent to where it is received.
///
/// The relocation runs in the call that takes the item, on the receiver's thread, and the source
/// is the affinity that the sender's thread had. An item costs 16 bytes more.
#[derive(Debug)]
pub struct Relocating(());

impl<T> Passage<T> for AsIs {
    type Item = T;

    #[inline(always)]
    fn pack(value: T) -> T {
        value
    }

    #[inline(always)]
    fn refuse(item: T) -> T {
        item
    }

    #[inline(always)]
    fn arrive(item: T) -> T {
        item
    }
}

impl<T: ThreadAware> Passage<T> for Relocating {
    type Item = (T, Affinity);

    #[inline]
    fn pack(value: T) -> (T, Affinity) {
        (value, affinity::current())
    }

    /// It comes back to where it still is.
    fn refuse((value, _): (T, Affinity)) -> T {
        value
    }

    #[inline]
    fn arrive((mut value, source): (T, Affinity)) -> T {
        value.relocate(Some(source), affinity::current());
        value
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::AsIs {}
    impl Sealed for super::Relocating {}
}
