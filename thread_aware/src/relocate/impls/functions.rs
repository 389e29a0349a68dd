//! Function pointers of up to twelve arguments: code belongs to no core.

use crate::{ThreadAware, affinity::Affinity};

macro_rules! functions {
    (@impl $($argument:ident)*) => {
        functions!(@each [$($argument)*]
            fn($($argument),*) -> R,
            unsafe fn($($argument),*) -> R,
            extern "C" fn($($argument),*) -> R,
            unsafe extern "C" fn($($argument),*) -> R,
        );
    };
    (@each $arguments:tt $($pointer:ty,)*) => {
        $(functions!(@one $arguments $pointer);)*
    };
    (@one [$($argument:ident)*] $pointer:ty) => {
        impl<R, $($argument),*> ThreadAware for $pointer {
            #[inline]
            fn relocate(&mut self, _: Option<Affinity>, _: Affinity) {}
        }
    };
    () => { functions!(@impl); };
    ($first:ident $($rest:ident)*) => {
        functions!(@impl $first $($rest)*);
        functions!($($rest)*);
    };
}

functions!(A B C D E F G H I J K L);
