//! What one thread sees of a subscription, policy by policy.
#![cfg(not(corelane_loom))]
#![allow(clippy::unwrap_used)]

mod cancel;
mod closing;
mod overflow;
mod values;

use corelane_primitives::{Feed, FeedError, Overflow};
use futures_core::Stream;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

pub(crate) const POLICIES: [Overflow; 4] = [
    Overflow::Backpressure,
    Overflow::DropNew,
    Overflow::DropOldest,
    Overflow::Fail,
];

#[derive(Default)]
pub(crate) struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Bell {
    pub(crate) fn rings(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

pub(crate) fn bell() -> (Arc<Bell>, Waker) {
    let bell = Arc::new(Bell::default());
    (bell.clone(), Waker::from(bell))
}

pub(crate) fn poll_next(
    feed: &mut Feed<u64>,
    waker: &Waker,
) -> Poll<Option<Result<u64, FeedError>>> {
    Pin::new(feed).poll_next(&mut Context::from_waker(waker))
}

pub(crate) fn drain(feed: &mut Feed<u64>) -> Vec<u64> {
    std::iter::from_fn(|| feed.try_next().ok()).collect()
}

/// Polls a future that never waits.
pub(crate) fn now<F: Future>(future: F) -> F::Output {
    let mut future = Box::pin(future);
    let mut cx = Context::from_waker(Waker::noop());
    match future.as_mut().poll(&mut cx) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}
