//! What can be called, and how.

use alloc::boxed::Box;
use core::pin::Pin;

use super::boxed::{CallBoxed, CallBoxedWith};
use crate::ThreadAware;

/// A boxed future that may be sent: what calling an async closure gives.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A thread-aware `Fn() -> T`.
pub trait ThreadAwareFn<T>: ThreadAware {
    /// Calls it.
    fn call(&self) -> T;
}

/// A thread-aware `FnMut() -> T`.
pub trait ThreadAwareFnMut<T>: ThreadAware {
    /// Calls it.
    fn call_mut(&mut self) -> T;
}

/// A thread-aware `FnOnce() -> T`.
///
/// A box of one, `Box<dyn ThreadAwareFnOnce<T>>`, is one itself: it can be relocated and called.
///
/// ```
/// use thread_aware::closure::{ThreadAwareFnOnce, closure_once};
///
/// let jobs: Vec<Box<dyn ThreadAwareFnOnce<usize>>> = vec![
///     Box::new(closure_once("text", str::len)),
///     Box::new(closure_once(vec![1, 2], |list| list.len())),
/// ];
/// assert_eq!(jobs.into_iter().map(|job| job.call_once()).sum::<usize>(), 6);
/// ```
pub trait ThreadAwareFnOnce<T: ?Sized>: ThreadAware + CallBoxed<T> {
    /// Calls it, which uses it up.
    fn call_once(self) -> T;
}

/// A thread-aware `Fn(A) -> T`.
pub trait ThreadAwareFnWith<T, A>: ThreadAware {
    /// Calls it.
    fn call_with(&self, argument: A) -> T;
}

/// A thread-aware `FnMut(A) -> T`.
pub trait ThreadAwareFnMutWith<T, A>: ThreadAware {
    /// Calls it.
    fn call_mut_with(&mut self, argument: A) -> T;
}

/// A thread-aware `FnOnce(A) -> T`.
///
/// A box of one, `Box<dyn ThreadAwareFnOnceWith<T, A>>`, is one itself.
pub trait ThreadAwareFnOnceWith<T, A>: ThreadAware + CallBoxedWith<T, A> {
    /// Calls it, which uses it up.
    fn call_once_with(self, argument: A) -> T;
}

/// A thread-aware async `Fn() -> T`.
pub trait ThreadAwareAsyncFn<T>: ThreadAware {
    /// Calls it; nothing happens before the future is polled, unless the function does it.
    fn call(&self) -> BoxFuture<'_, T>;
}

/// A thread-aware async `FnMut() -> T`.
pub trait ThreadAwareAsyncFnMut<T>: ThreadAware {
    /// Calls it; nothing happens before the future is polled, unless the function does it.
    fn call_mut(&mut self) -> BoxFuture<'_, T>;
}

/// A thread-aware async `FnOnce() -> T`, called in its box.
pub trait ThreadAwareAsyncFnOnce<T>: ThreadAware {
    /// Calls it, which uses it up.
    fn call_once(self: Box<Self>) -> BoxFuture<'static, T>;
}

/// A thread-aware async `Fn(A) -> T`.
pub trait ThreadAwareAsyncFnWith<T, A>: ThreadAware {
    /// Calls it; nothing happens before the future is polled, unless the function does it.
    fn call_with(&self, argument: A) -> BoxFuture<'_, T>;
}

/// A thread-aware async `FnMut(A) -> T`.
pub trait ThreadAwareAsyncFnMutWith<T, A>: ThreadAware {
    /// Calls it; nothing happens before the future is polled, unless the function does it.
    fn call_mut_with(&mut self, argument: A) -> BoxFuture<'_, T>;
}

/// A thread-aware async `FnOnce(A) -> T`, called in its box.
pub trait ThreadAwareAsyncFnOnceWith<T, A>: ThreadAware {
    /// Calls it, which uses it up.
    fn call_once_with(self: Box<Self>, argument: A) -> BoxFuture<'static, T>;
}
