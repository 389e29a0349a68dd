//! The handle of a spawned task.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use super::raw::TaskRef;
use crate::error::JoinError;
use crate::shard::Context;

/// Waits for a task of this shard and takes its output.
///
/// Dropping the handle detaches the task: it goes on, and its output is dropped. The handle stays
/// on its shard (`!Send`), as the task does.
///
/// # Cancel safety
///
/// Awaiting `&mut handle` may be given up and taken up again; the output stays until it is taken.
///
/// ```
/// # corelane::Runtime::builder().shards(1).run(|| async {
/// let handle = corelane::spawn(async { 6 * 7 });
/// assert_eq!(handle.await?, 42);
/// # Ok::<_, corelane::JoinError>(())
/// # })?.expect("the task does not panic");
/// # Ok::<_, corelane::StartError>(())
/// ```
#[must_use = "a handle that is dropped detaches its task; say `drop` or `detach` to mean it"]
pub struct JoinHandle<T> {
    task: TaskRef,
    taken: bool,
    output: PhantomData<fn() -> T>,
}

impl<T> JoinHandle<T> {
    /// Takes the handle's reference of a task whose future's output is `T`.
    pub(crate) fn new(task: TaskRef) -> Self {
        Self {
            task,
            taken: false,
            output: PhantomData,
        }
    }

    /// Lets the task go on without its handle.
    pub fn detach(self) {}

    /// Asks for the task's end: its future is dropped between polls, soon, and the handle's answer
    /// is [`JoinError::Cancelled`]. A task that is done already keeps its output.
    pub fn abort(&self) {
        if !self.task.header().is_done() {
            Context::abort(self.task);
        }
    }

    /// Whether the task has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.task.header().is_done()
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    /// # Panics
    ///
    /// When it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut TaskContext<'_>) -> Poll<Self::Output> {
        assert!(!self.taken, "a join handle was polled after it was ready");
        // SAFETY: Valid: `new` got the task from `spawn`, whose future's output is `T`. Exclusive:
        // a task has one handle.
        let output = unsafe { self.task.take_output::<T>() };
        match output {
            Some(output) => {
                self.taken = true;
                Poll::Ready(output)
            }
            None => {
                self.task.join_with(context.waker());
                Poll::Pending
            }
        }
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        self.task.leave_handle();
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle")
            .field("finished", &self.is_finished())
            .finish_non_exhaustive()
    }
}
