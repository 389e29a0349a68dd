//! Calling a once-closure of unknown type in its box.
//!
//! `call_once(self)` cannot be called on a trait object, whose size nobody knows. So every
//! once-closure also has a form of it that takes the box, by an implementation for all of them.

use alloc::boxed::Box;

use super::traits::{ThreadAwareFnOnce, ThreadAwareFnOnceWith};

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
