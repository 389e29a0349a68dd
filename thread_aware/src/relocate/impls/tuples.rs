//! Tuples of up to twelve elements, relocated from left to right.

use crate::{ThreadAware, affinity::Affinity};

macro_rules! tuples {
    () => {
        impl ThreadAware for () {
            #[inline]
            fn relocate(&mut self, _: Option<Affinity>, _: Affinity) {}
        }
    };
    ($first:ident $($rest:ident)*) => {
        impl<$first: ThreadAware, $($rest: ThreadAware),*> ThreadAware for ($first, $($rest,)*) {
            #[inline]
            #[allow(non_snake_case)] // a type parameter's name serves its element too
            fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
                let ($first, $($rest,)*) = self;
                $first.relocate(source, destination);
                $($rest.relocate(source, destination);)*
            }
        }
        tuples!($($rest)*);
    };
}

tuples!(A B C D E F G H I J K L);
