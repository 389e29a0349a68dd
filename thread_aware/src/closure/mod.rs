//! Closures whose captures relocate.
//!
//! What a Rust closure captures cannot be visited, so nobody can tell it that it has moved. The
//! closures here are made of two parts: the captured data, which is thread-aware, and a function
//! pointer that works on it. Relocating such a closure relocates its data. A `move ||` that
//! captures nothing is a function pointer, so it serves as the second part:
//!
//! ```
//! use thread_aware::{
//!     ThreadAware,
//!     affinity::pinned_affinities,
//!     closure::{ThreadAwareFnOnce, closure_once},
//! };
//!
//! let cores = pinned_affinities(&[2]);
//! let names = vec![String::from("a"), String::from("b")];
//! let mut job = closure_once((names, "-"), |(names, between)| names.join(between));
//! job.relocate(Some(cores[0]), cores[1]); // the vector and its strings are told
//! assert_eq!(job.call_once(), "a-b");
//! ```
//!
//! | made by | called by | how often | data |
//! |---|---|---|---|
//! | [`closure`] | [`ThreadAwareFn`] | any number, also shared | by reference |
//! | [`closure_mut`] | [`ThreadAwareFnMut`] | any number | by mutable reference |
//! | [`closure_once`] | [`ThreadAwareFnOnce`] | once, also boxed | by value |
//! | [`async_closure`] and so on | [`ThreadAwareAsyncFn`] and so on | likewise | likewise |
//!
//! Each has a form with an argument that the caller gives, as `closure_with` called by
//! [`ThreadAwareFnWith`]; several arguments are a tuple. What can be called by a shared reference
//! can also be called by a mutable one and by value.

mod asynchronous;
mod boxed;
mod captured;
mod synchronous;
mod traits;

pub use asynchronous::{
    async_closure, async_closure_mut, async_closure_mut_with, async_closure_once,
    async_closure_once_with, async_closure_with,
};
pub use boxed::{CallBoxed, CallBoxedWith};
pub use captured::{
    AsyncClosure, AsyncClosureMut, AsyncClosureOnce, Closure, ClosureMut, ClosureOnce,
};
pub use synchronous::{
    closure, closure_mut, closure_mut_with, closure_once, closure_once_with, closure_with,
};
pub use traits::{
    BoxFuture, ThreadAwareAsyncFn, ThreadAwareAsyncFnMut, ThreadAwareAsyncFnMutWith,
    ThreadAwareAsyncFnOnce, ThreadAwareAsyncFnOnceWith, ThreadAwareAsyncFnWith, ThreadAwareFn,
    ThreadAwareFnMut, ThreadAwareFnMutWith, ThreadAwareFnOnce, ThreadAwareFnOnceWith,
    ThreadAwareFnWith,
};
