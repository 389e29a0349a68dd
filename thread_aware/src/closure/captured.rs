//! The closures themselves: data and code side by side.

use core::{
    fmt,
    hash::{Hash, Hasher},
    marker::PhantomData,
};

use super::traits::BoxFuture;
use crate::{ThreadAware, affinity::Affinity};

macro_rules! captured {
    ($($(#[$doc:meta])* $name:ident: $code:ty;)*) => {$(
        $(#[$doc])*
        ///
        /// It can be cloned, copied and hashed as its data can. `F` is the type of its function.
        pub struct $name<T, D, F = $code> {
            pub(super) data: D,
            pub(super) code: F,
            result: PhantomData<fn() -> T>,
        }

        impl<T, D, F> $name<T, D, F> {
            pub(super) const fn of(data: D, code: F) -> Self {
                Self { data, code, result: PhantomData }
            }
        }

        impl<T, D: ThreadAware, F: Send> ThreadAware for $name<T, D, F> {
            fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
                self.data.relocate(source, destination);
            }
        }

        impl<T, D: Clone, F: Clone> Clone for $name<T, D, F> {
            fn clone(&self) -> Self {
                Self::of(self.data.clone(), self.code.clone())
            }
        }

        impl<T, D: Copy, F: Copy> Copy for $name<T, D, F> {}

        impl<T, D: Hash, F: Hash> Hash for $name<T, D, F> {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.data.hash(state);
                self.code.hash(state);
            }
        }

        impl<T, D: fmt::Debug, F> fmt::Debug for $name<T, D, F> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("data", &self.data).finish_non_exhaustive()
            }
        }
    )*};
}

captured! {
    /// What [`closure`](super::closure) and [`closure_with`](super::closure_with) make.
    Closure: fn(&D) -> T;
    /// What [`closure_mut`](super::closure_mut) and
    /// [`closure_mut_with`](super::closure_mut_with) make.
    ClosureMut: fn(&mut D) -> T;
    /// What [`closure_once`](super::closure_once) and
    /// [`closure_once_with`](super::closure_once_with) make.
    ClosureOnce: fn(D) -> T;
    /// What [`async_closure`](super::async_closure) and
    /// [`async_closure_with`](super::async_closure_with) make.
    AsyncClosure: for<'a> fn(&'a D) -> BoxFuture<'a, T>;
    /// What [`async_closure_mut`](super::async_closure_mut) and
    /// [`async_closure_mut_with`](super::async_closure_mut_with) make.
    AsyncClosureMut: for<'a> fn(&'a mut D) -> BoxFuture<'a, T>;
    /// What [`async_closure_once`](super::async_closure_once) and
    /// [`async_closure_once_with`](super::async_closure_once_with) make.
    AsyncClosureOnce: fn(D) -> BoxFuture<'static, T>;
}
