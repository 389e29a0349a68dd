//! Making and calling the async closures.

use alloc::boxed::Box;

use super::{
    captured::{AsyncClosure, AsyncClosureMut, AsyncClosureOnce},
    traits::{
        BoxFuture, ThreadAwareAsyncFn, ThreadAwareAsyncFnMut, ThreadAwareAsyncFnMutWith,
        ThreadAwareAsyncFnOnce, ThreadAwareAsyncFnOnceWith, ThreadAwareAsyncFnWith,
    },
};
use crate::ThreadAware;

/// The function of an async closure with an argument.
type Code<D, A, T> = for<'a> fn(&'a D, A) -> BoxFuture<'a, T>;
/// The function of an async closure with an argument that may change its data.
type CodeMut<D, A, T> = for<'a> fn(&'a mut D, A) -> BoxFuture<'a, T>;
/// The function of an async closure with an argument that is called once.
type CodeOnce<D, A, T> = fn(D, A) -> BoxFuture<'static, T>;

/// Makes an async closure that can be called any number of times.
///
/// ```
/// use thread_aware::closure::{BoxFuture, async_closure};
///
/// fn doubled(n: &u32) -> BoxFuture<'_, u32> {
///     Box::pin(async move { n * 2 })
/// }
///
/// # async fn example() {
/// let closure = async_closure(4, doubled);
/// assert_eq!(closure.call().await, 8);
/// # }
/// ```
pub fn async_closure<T, D: ThreadAware>(
    data: D,
    f: for<'a> fn(&'a D) -> BoxFuture<'a, T>,
) -> AsyncClosure<T, D> {
    AsyncClosure::of(data, f)
}

/// Makes an async closure that can be called any number of times and may change its data.
pub fn async_closure_mut<T, D: ThreadAware>(
    data: D,
    f: for<'a> fn(&'a mut D) -> BoxFuture<'a, T>,
) -> AsyncClosureMut<T, D> {
    AsyncClosureMut::of(data, f)
}

/// Makes an async closure that is called once and gets its data by value.
///
/// ```
/// use thread_aware::closure::async_closure_once;
///
/// # async fn example() {
/// let job = async_closure_once(vec![1, 2], |list| Box::pin(async move { list.len() }));
/// assert_eq!(job.call_once().await, 2);
/// # }
/// ```
pub fn async_closure_once<T, D: ThreadAware>(
    data: D,
    f: fn(D) -> BoxFuture<'static, T>,
) -> AsyncClosureOnce<T, D> {
    AsyncClosureOnce::of(data, f)
}

/// Makes an async closure with an argument that can be called any number of times.
pub fn async_closure_with<T, D: ThreadAware, A>(
    data: D,
    f: Code<D, A, T>,
) -> AsyncClosure<T, D, Code<D, A, T>> {
    AsyncClosure::of(data, f)
}

/// Makes an async closure with an argument that may change its data.
pub fn async_closure_mut_with<T, D: ThreadAware, A>(
    data: D,
    f: CodeMut<D, A, T>,
) -> AsyncClosureMut<T, D, CodeMut<D, A, T>> {
    AsyncClosureMut::of(data, f)
}

/// Makes an async closure with an argument that is called once.
pub fn async_closure_once_with<T, D: ThreadAware, A>(
    data: D,
    f: CodeOnce<D, A, T>,
) -> AsyncClosureOnce<T, D, CodeOnce<D, A, T>> {
    AsyncClosureOnce::of(data, f)
}

impl<T, D: ThreadAware> AsyncClosure<T, D> {
    /// Calls it.
    pub fn call(&self) -> BoxFuture<'_, T> {
        (self.code)(&self.data)
    }
}

impl<T, D: ThreadAware> AsyncClosureMut<T, D> {
    /// Calls it.
    pub fn call_mut(&mut self) -> BoxFuture<'_, T> {
        (self.code)(&mut self.data)
    }
}

impl<T, D: ThreadAware> AsyncClosureOnce<T, D> {
    /// Calls it, which uses it up.
    pub fn call_once(self) -> BoxFuture<'static, T> {
        (self.code)(self.data)
    }
}

impl<T, D: ThreadAware> ThreadAwareAsyncFn<T> for AsyncClosure<T, D> {
    fn call(&self) -> BoxFuture<'_, T> {
        (self.code)(&self.data)
    }
}

impl<T, D: ThreadAware> ThreadAwareAsyncFnMut<T> for AsyncClosure<T, D> {
    fn call_mut(&mut self) -> BoxFuture<'_, T> {
        (self.code)(&self.data)
    }
}

impl<T: 'static, D: ThreadAware + 'static> ThreadAwareAsyncFnOnce<T> for AsyncClosure<T, D> {
    fn call_once(self: Box<Self>) -> BoxFuture<'static, T> {
        Box::pin(async move { (self.code)(&self.data).await })
    }
}

impl<T, D: ThreadAware> ThreadAwareAsyncFnMut<T> for AsyncClosureMut<T, D> {
    fn call_mut(&mut self) -> BoxFuture<'_, T> {
        (self.code)(&mut self.data)
    }
}

impl<T: 'static, D: ThreadAware + 'static> ThreadAwareAsyncFnOnce<T> for AsyncClosureMut<T, D> {
    fn call_once(mut self: Box<Self>) -> BoxFuture<'static, T> {
        Box::pin(async move { (self.code)(&mut self.data).await })
    }
}

impl<T, D: ThreadAware> ThreadAwareAsyncFnOnce<T> for AsyncClosureOnce<T, D> {
    fn call_once(self: Box<Self>) -> BoxFuture<'static, T> {
        (self.code)(self.data)
    }
}

impl<T, D: ThreadAware, A> ThreadAwareAsyncFnWith<T, A> for AsyncClosure<T, D, Code<D, A, T>> {
    fn call_with(&self, argument: A) -> BoxFuture<'_, T> {
        (self.code)(&self.data, argument)
    }
}

impl<T, D: ThreadAware, A> ThreadAwareAsyncFnMutWith<T, A> for AsyncClosure<T, D, Code<D, A, T>> {
    fn call_mut_with(&mut self, argument: A) -> BoxFuture<'_, T> {
        (self.code)(&self.data, argument)
    }
}

impl<T, D, A> ThreadAwareAsyncFnOnceWith<T, A> for AsyncClosure<T, D, Code<D, A, T>>
where
    T: 'static,
    D: ThreadAware + 'static,
    A: Send + 'static,
{
    fn call_once_with(self: Box<Self>, argument: A) -> BoxFuture<'static, T> {
        Box::pin(async move { (self.code)(&self.data, argument).await })
    }
}

impl<T, D, A> ThreadAwareAsyncFnMutWith<T, A> for AsyncClosureMut<T, D, CodeMut<D, A, T>>
where
    D: ThreadAware,
{
    fn call_mut_with(&mut self, argument: A) -> BoxFuture<'_, T> {
        (self.code)(&mut self.data, argument)
    }
}

impl<T, D, A> ThreadAwareAsyncFnOnceWith<T, A> for AsyncClosureMut<T, D, CodeMut<D, A, T>>
where
    T: 'static,
    D: ThreadAware + 'static,
    A: Send + 'static,
{
    fn call_once_with(mut self: Box<Self>, argument: A) -> BoxFuture<'static, T> {
        Box::pin(async move { (self.code)(&mut self.data, argument).await })
    }
}

impl<T, D, A> ThreadAwareAsyncFnOnceWith<T, A> for AsyncClosureOnce<T, D, CodeOnce<D, A, T>>
where
    D: ThreadAware,
{
    fn call_once_with(self: Box<Self>, argument: A) -> BoxFuture<'static, T> {
        (self.code)(self.data, argument)
    }
}
