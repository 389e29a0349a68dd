//! Making and calling the closures that are not async.

use super::{
    captured::{Closure, ClosureMut, ClosureOnce},
    traits::{
        ThreadAwareFn, ThreadAwareFnMut, ThreadAwareFnMutWith, ThreadAwareFnOnce,
        ThreadAwareFnOnceWith, ThreadAwareFnWith,
    },
};
use crate::ThreadAware;

/// Makes a closure that can be called any number of times, by [`ThreadAwareFn`].
///
/// ```
/// use thread_aware::closure::{ThreadAwareFn, closure};
///
/// let greeting = closure(String::from("you"), |name| format!("hello, {name}"));
/// assert_eq!(greeting.call(), greeting.call());
/// ```
pub fn closure<T, D: ThreadAware>(data: D, f: fn(&D) -> T) -> Closure<T, D> {
    Closure::of(data, f)
}

/// Makes a closure that can be called any number of times and may change its data, by
/// [`ThreadAwareFnMut`].
///
/// ```
/// use thread_aware::closure::{ThreadAwareFnMut, closure_mut};
///
/// let mut next = closure_mut(0, |n| {
///     *n += 1;
///     *n
/// });
/// assert_eq!((next.call_mut(), next.call_mut()), (1, 2));
/// ```
pub fn closure_mut<T, D: ThreadAware>(data: D, f: fn(&mut D) -> T) -> ClosureMut<T, D> {
    ClosureMut::of(data, f)
}

/// Makes a closure that is called once and gets its data by value, by [`ThreadAwareFnOnce`].
///
/// ```
/// use thread_aware::closure::{ThreadAwareFnOnce, closure_once};
///
/// let pair = closure_once((String::from("a"), String::from("b")), |(a, b)| a + &b);
/// assert_eq!(pair.call_once(), "ab");
/// ```
pub fn closure_once<T, D: ThreadAware>(data: D, f: fn(D) -> T) -> ClosureOnce<T, D> {
    ClosureOnce::of(data, f)
}

/// Makes a closure with an argument that can be called any number of times, by
/// [`ThreadAwareFnWith`].
///
/// ```
/// use thread_aware::closure::{ThreadAwareFnWith, closure_with};
///
/// let scaled = closure_with(3, |factor, (a, b): (u32, u32)| factor * (a + b));
/// assert_eq!(scaled.call_with((1, 2)), 9);
/// ```
pub fn closure_with<T, D: ThreadAware, A>(
    data: D,
    f: fn(&D, A) -> T,
) -> Closure<T, D, fn(&D, A) -> T> {
    Closure::of(data, f)
}

/// Makes a closure with an argument that may change its data, by [`ThreadAwareFnMutWith`].
///
/// ```
/// use thread_aware::closure::{ThreadAwareFnMutWith, closure_mut_with};
///
/// let mut sum = closure_mut_with(0, |sum, n: u32| {
///     *sum += n;
///     *sum
/// });
/// assert_eq!((sum.call_mut_with(2), sum.call_mut_with(3)), (2, 5));
/// ```
pub fn closure_mut_with<T, D: ThreadAware, A>(
    data: D,
    f: fn(&mut D, A) -> T,
) -> ClosureMut<T, D, fn(&mut D, A) -> T> {
    ClosureMut::of(data, f)
}

/// Makes a closure with an argument that is called once, by [`ThreadAwareFnOnceWith`].
///
/// ```
/// use thread_aware::closure::{ThreadAwareFnOnceWith, closure_once_with};
///
/// let joined = closure_once_with(vec!["a", "b"], |list, between: &str| list.join(between));
/// assert_eq!(joined.call_once_with("+"), "a+b");
/// ```
pub fn closure_once_with<T, D: ThreadAware, A>(
    data: D,
    f: fn(D, A) -> T,
) -> ClosureOnce<T, D, fn(D, A) -> T> {
    ClosureOnce::of(data, f)
}

impl<T, D: ThreadAware> ThreadAwareFn<T> for Closure<T, D> {
    fn call(&self) -> T {
        (self.code)(&self.data)
    }
}

impl<T, D: ThreadAware> ThreadAwareFnMut<T> for Closure<T, D> {
    fn call_mut(&mut self) -> T {
        (self.code)(&self.data)
    }
}

impl<T, D: ThreadAware> ThreadAwareFnOnce<T> for Closure<T, D> {
    fn call_once(self) -> T {
        (self.code)(&self.data)
    }
}

impl<T, D: ThreadAware> ThreadAwareFnMut<T> for ClosureMut<T, D> {
    fn call_mut(&mut self) -> T {
        (self.code)(&mut self.data)
    }
}

impl<T, D: ThreadAware> ThreadAwareFnOnce<T> for ClosureMut<T, D> {
    fn call_once(mut self) -> T {
        (self.code)(&mut self.data)
    }
}

impl<T, D: ThreadAware> ThreadAwareFnOnce<T> for ClosureOnce<T, D> {
    fn call_once(self) -> T {
        (self.code)(self.data)
    }
}

impl<T, D: ThreadAware, A> ThreadAwareFnWith<T, A> for Closure<T, D, fn(&D, A) -> T> {
    fn call_with(&self, argument: A) -> T {
        (self.code)(&self.data, argument)
    }
}

impl<T, D: ThreadAware, A> ThreadAwareFnMutWith<T, A> for Closure<T, D, fn(&D, A) -> T> {
    fn call_mut_with(&mut self, argument: A) -> T {
        (self.code)(&self.data, argument)
    }
}

impl<T, D: ThreadAware, A> ThreadAwareFnOnceWith<T, A> for Closure<T, D, fn(&D, A) -> T> {
    fn call_once_with(self, argument: A) -> T {
        (self.code)(&self.data, argument)
    }
}

impl<T, D: ThreadAware, A> ThreadAwareFnMutWith<T, A> for ClosureMut<T, D, fn(&mut D, A) -> T> {
    fn call_mut_with(&mut self, argument: A) -> T {
        (self.code)(&mut self.data, argument)
    }
}

impl<T, D: ThreadAware, A> ThreadAwareFnOnceWith<T, A> for ClosureMut<T, D, fn(&mut D, A) -> T> {
    fn call_once_with(mut self, argument: A) -> T {
        (self.code)(&mut self.data, argument)
    }
}

impl<T, D: ThreadAware, A> ThreadAwareFnOnceWith<T, A> for ClosureOnce<T, D, fn(D, A) -> T> {
    fn call_once_with(self, argument: A) -> T {
        (self.code)(self.data, argument)
    }
}
