//! A handle shows, compares and hashes as its value does.

use core::{
    borrow::Borrow,
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    panic::{RefUnwindSafe, UnwindSafe},
};

use super::{handle::Arc, strategy::Strategy};

macro_rules! formats {
    ($($format:ident),*) => {$(
        impl<T: fmt::$format + ?Sized, S: Strategy> fmt::$format for Arc<T, S> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::$format::fmt(&**self, f)
            }
        }
    )*};
}

formats!(Debug, Display);

impl<T: PartialEq + ?Sized, S: Strategy> PartialEq for Arc<T, S> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq + ?Sized, S: Strategy> Eq for Arc<T, S> {}

impl<T: PartialOrd + ?Sized, S: Strategy> PartialOrd for Arc<T, S> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: Ord + ?Sized, S: Strategy> Ord for Arc<T, S> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl<T: Hash + ?Sized, S: Strategy> Hash for Arc<T, S> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: ?Sized, S: Strategy> AsRef<T> for Arc<T, S> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized, S: Strategy> Borrow<T> for Arc<T, S> {
    fn borrow(&self) -> &T {
        self
    }
}

/// Values are only lent, as those of a std `Arc` are, and a panic leaves no lineage half-way.
impl<T: RefUnwindSafe + ?Sized, S: Strategy> UnwindSafe for Arc<T, S> {}

/// As for `UnwindSafe`.
impl<T: RefUnwindSafe + ?Sized, S: Strategy> RefUnwindSafe for Arc<T, S> {}
