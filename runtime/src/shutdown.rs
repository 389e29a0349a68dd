//! The end of a runtime, as its tasks see it.

use std::future::poll_fn;
use std::task::Poll;

use crate::shard::Context;

/// Tells every task of the runtime that waits in [`wait`] that the end begins.
///
/// Under [`Builder::run`](crate::Builder::run) the shards go on until `main` ends, which is
/// expected to wait for this and end soon. Under [`Builder::start`](crate::Builder::start) they
/// stop when no task is left, or at the builder's `shutdown_limit` from now.
///
/// # Panics
///
/// Outside of the shards.
pub fn trigger() {
    Context::with(|context| {
        let limit = context.directory().settings.shutdown_limit;
        context
            .directory()
            .drain(context.clock().now().saturating_add(limit));
    });
}

/// Waits until the runtime's end begins. Ready at once when it has begun.
///
/// # Panics
///
/// When polled outside of the shards.
///
/// # Cancel safety
///
/// It may be dropped and called again at any time.
pub async fn wait() {
    poll_fn(|cx| {
        if Context::with(|context| context.wait_shutdown(cx.waker())) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}
