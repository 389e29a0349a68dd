//! What the feeds of all primitives, and those who write for them, promise one thread.
#![cfg(not(corelane_loom))]

mod batches;
mod reentrant;
mod refusals;
mod turns;

use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

fn poll<F: Future + ?Sized>(future: Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(waker))
}

/// Polls a future that has to wait, and gives it up.
fn poll_and_drop(future: impl Future) {
    assert!(poll(pin!(future), Waker::noop()).is_pending());
}
