//! Types that hold one or two values, or none at all.

use alloc::{
    borrow::{Cow, ToOwned},
    boxed::Box,
};
use core::{
    cmp::Reverse,
    marker::PhantomData,
    num::{Saturating, Wrapping},
    ops::{Bound, Range, RangeFrom, RangeInclusive, RangeTo, RangeToInclusive},
    pin::Pin,
};

use crate::{ThreadAware, affinity::Affinity};

impl<T: ThreadAware> ThreadAware for Option<T> {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        if let Some(value) = self {
            value.relocate(source, destination);
        }
    }
}

impl<T: ThreadAware, E: ThreadAware> ThreadAware for Result<T, E> {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        match self {
            Ok(value) => value.relocate(source, destination),
            Err(error) => error.relocate(source, destination),
        }
    }
}

impl<T: ThreadAware + ?Sized> ThreadAware for Box<T> {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        (**self).relocate(source, destination);
    }
}

impl<T: ThreadAware + Unpin + ?Sized> ThreadAware for Pin<Box<T>> {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        self.as_mut().get_mut().relocate(source, destination);
    }
}

/// A borrowed value is shared and stays; an owned one is relocated.
impl<T> ThreadAware for Cow<'_, T>
where
    T: ToOwned<Owned: ThreadAware> + Sync + ?Sized,
{
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        if let Cow::Owned(value) = self {
            value.relocate(source, destination);
        }
    }
}

impl<T: Send + ?Sized> ThreadAware for PhantomData<T> {
    #[inline]
    fn relocate(&mut self, _: Option<Affinity>, _: Affinity) {}
}

macro_rules! newtypes {
    ($($type:ident),*) => {$(
        impl<T: ThreadAware> ThreadAware for $type<T> {
            fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
                self.0.relocate(source, destination);
            }
        }
    )*};
}

newtypes!(Wrapping, Saturating, Reverse);

macro_rules! ranges {
    ($($type:ident: $($field:ident),*;)*) => {$(
        impl<T: ThreadAware> ThreadAware for $type<T> {
            fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
                $(self.$field.relocate(source, destination);)*
            }
        }
    )*};
}

ranges! {
    Range: start, end;
    RangeFrom: start;
    RangeTo: end;
    RangeToInclusive: end;
}

/// Its bounds cannot be reached in place, so they are cloned; an empty range, which may have been
/// emptied by iterating over it, stays as it is.
impl<T: ThreadAware + Clone + PartialOrd> ThreadAware for RangeInclusive<T> {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        if self.is_empty() {
            return;
        }
        let (mut start, mut end) = (self.start().clone(), self.end().clone());
        start.relocate(source, destination);
        end.relocate(source, destination);
        *self = start..=end;
    }
}

impl<T: ThreadAware> ThreadAware for Bound<T> {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        if let Bound::Included(value) | Bound::Excluded(value) = self {
            value.relocate(source, destination);
        }
    }
}
