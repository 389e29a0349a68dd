//! Spawning, and giving way to other tasks.

use std::future::{Future, poll_fn};
use std::task::Poll;

use super::JoinHandle;
use crate::shard::Context;

/// Starts a task on this shard. It need not be `Send`, and it never leaves the shard.
///
/// Costs no allocation for a future of a size that the shard has seen before, and no atomic
/// read-modify-write. The task runs after the caller's poll, behind the tasks that are ready.
///
/// # Panics
///
/// Outside of the shards, and when the shard has 2^24 tasks.
///
/// ```
/// # corelane::Runtime::builder().shards(1).run(|| async {
/// use std::{cell::Cell, rc::Rc};
///
/// let count = Rc::new(Cell::new(0));
/// let task = corelane::spawn({
///     let count = Rc::clone(&count);
///     async move { count.set(count.get() + 1) }
/// });
/// task.await?;
/// assert_eq!(count.get(), 1);
/// # Ok::<_, corelane::JoinError>(())
/// # })?.expect("the task does not panic");
/// # Ok::<_, corelane::StartError>(())
/// ```
#[inline]
#[track_caller]
pub fn spawn<F: Future + 'static>(future: F) -> JoinHandle<F::Output> {
    Context::with(|context| context.spawn(future))
}

/// Lets the tasks that are ready run before this one goes on.
///
/// # Cancel safety
///
/// It holds nothing.
pub async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
