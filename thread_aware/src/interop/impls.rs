//! `thread_aware_core::ThreadAware` for the types of this crate.

use thread_aware_core::{Thread, ThreadAware as CoreAware};

use super::bindings::relocate;
use crate::{
    Arc, ThreadAware, Unaware, Weak,
    affinity::{Affinity, TopologyId},
    closure::{AsyncClosure, AsyncClosureMut, AsyncClosureOnce, Closure, ClosureMut, ClosureOnce},
    storage::Strategy,
};

/// Adopts the value of the partition of the affinity that `destination` is bound to.
impl<T: Send + Sync + ?Sized, S: Strategy> CoreAware for Arc<T, S> {
    fn relocate(&mut self, source: Option<&Thread>, destination: &Thread) {
        relocate(self, source, destination);
    }
}

/// As the handles that it can become.
impl<T: Send + Sync + ?Sized, S: Strategy> CoreAware for Weak<T, S> {
    fn relocate(&mut self, source: Option<&Thread>, destination: &Thread) {
        relocate(self, source, destination);
    }
}

impl<T: Send> CoreAware for Unaware<T> {
    #[inline]
    fn relocate(&mut self, _: Option<&Thread>, _: &Thread) {}
}

impl CoreAware for Affinity {
    #[inline]
    fn relocate(&mut self, _: Option<&Thread>, _: &Thread) {}
}

impl CoreAware for TopologyId {
    #[inline]
    fn relocate(&mut self, _: Option<&Thread>, _: &Thread) {}
}

macro_rules! closures {
    ($($name:ident),*) => {$(
        /// Relocates the data between the affinities that the threads are bound to.
        impl<T, D: ThreadAware, F: Send> CoreAware for $name<T, D, F> {
            fn relocate(&mut self, source: Option<&Thread>, destination: &Thread) {
                relocate(self, source, destination);
            }
        }
    )*};
}

closures!(
    Closure,
    ClosureMut,
    ClosureOnce,
    AsyncClosure,
    AsyncClosureMut,
    AsyncClosureOnce
);
