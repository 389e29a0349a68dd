//! Closures in boxes: a box of one is one itself.
//!
//! For those that are called once this takes more. `call_once(self)` cannot be called on a trait
//! object, whose size nobody knows. So every once-closure also has a form of it that takes the box,
//! by an implementation for all of them.

use alloc::boxed::Box;

use super::traits::{
    BoxFuture, ThreadAwareAsyncFn, ThreadAwareAsyncFnMut, ThreadAwareAsyncFnMutWith,
    ThreadAwareAsyncFnWith, ThreadAwareFn, ThreadAwareFnMut, ThreadAwareFnMutWith,
    ThreadAwareFnOnce, ThreadAwareFnOnceWith, ThreadAwareFnWith,
};

/// The part of [`ThreadAwareFnOnce`] that works in a box; all of them have it.
pub trait CallBoxed<T: ?Sized> {
    /// Calls the closure in its box, which uses both up.
    fn call_boxed(self: Box<Self>) -> T;
}

/// The part of [`ThreadAwareFnOnceWith`] that works in a box; all of them have it.
pub trait CallBoxedWith<T, A> {
    /// Calls the closure in its box, which uses both up.
    fn call_boxed_with(self: Box<Self>, argument: A) -> T;
}

impl<T, F: ThreadAwareFnOnce<T>> CallBoxed<T> for F {
    fn call_boxed(self: Box<Self>) -> T {
        (*self).call_once()
    }
}

impl<T, A, F: ThreadAwareFnOnceWith<T, A>> CallBoxedWith<T, A> for F {
    fn call_boxed_with(self: Box<Self>, argument: A) -> T {
        (*self).call_once_with(argument)
    }
}

impl<T> ThreadAwareFnOnce<T> for Box<dyn ThreadAwareFnOnce<T> + '_> {
    fn call_once(self) -> T {
        self.call_boxed()
    }
}

impl<T> ThreadAwareFnOnce<T> for Box<dyn ThreadAwareFnOnce<T> + Send + '_> {
    fn call_once(self) -> T {
        self.call_boxed()
    }
}

impl<T, A> ThreadAwareFnOnceWith<T, A> for Box<dyn ThreadAwareFnOnceWith<T, A> + '_> {
    fn call_once_with(self, argument: A) -> T {
        self.call_boxed_with(argument)
    }
}

impl<T, A> ThreadAwareFnOnceWith<T, A> for Box<dyn ThreadAwareFnOnceWith<T, A> + Send + '_> {
    fn call_once_with(self, argument: A) -> T {
        self.call_boxed_with(argument)
    }
}

impl<T, F: ThreadAwareFn<T> + ?Sized> ThreadAwareFn<T> for Box<F> {
    fn call(&self) -> T {
        (**self).call()
    }
}

impl<T, F: ThreadAwareFnMut<T> + ?Sized> ThreadAwareFnMut<T> for Box<F> {
    fn call_mut(&mut self) -> T {
        (**self).call_mut()
    }
}

impl<T, A, F: ThreadAwareFnWith<T, A> + ?Sized> ThreadAwareFnWith<T, A> for Box<F> {
    fn call_with(&self, argument: A) -> T {
        (**self).call_with(argument)
    }
}

impl<T, A, F: ThreadAwareFnMutWith<T, A> + ?Sized> ThreadAwareFnMutWith<T, A> for Box<F> {
    fn call_mut_with(&mut self, argument: A) -> T {
        (**self).call_mut_with(argument)
    }
}

impl<T, F: ThreadAwareAsyncFn<T> + ?Sized> ThreadAwareAsyncFn<T> for Box<F> {
    fn call(&self) -> BoxFuture<'_, T> {
        (**self).call()
    }
}

impl<T, F: ThreadAwareAsyncFnMut<T> + ?Sized> ThreadAwareAsyncFnMut<T> for Box<F> {
    fn call_mut(&mut self) -> BoxFuture<'_, T> {
        (**self).call_mut()
    }
}

impl<T, A, F: ThreadAwareAsyncFnWith<T, A> + ?Sized> ThreadAwareAsyncFnWith<T, A> for Box<F> {
    fn call_with(&self, argument: A) -> BoxFuture<'_, T> {
        (**self).call_with(argument)
    }
}

impl<T, A, F> ThreadAwareAsyncFnMutWith<T, A> for Box<F>
where
    F: ThreadAwareAsyncFnMutWith<T, A> + ?Sized,
{
    fn call_mut_with(&mut self, argument: A) -> BoxFuture<'_, T> {
        (**self).call_mut_with(argument)
    }
}
