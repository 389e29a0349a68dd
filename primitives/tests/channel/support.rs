//! Futures that are polled by hand.

use crate::clock::{Bell, bell};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// A future with a bell of its own.
pub(crate) struct Task<'a, R> {
    future: Pin<Box<dyn Future<Output = R> + 'a>>,
    bell: Arc<Bell>,
    waker: Waker,
}

impl<'a, R> Task<'a, R> {
    pub(crate) fn new(future: impl Future<Output = R> + 'a) -> Self {
        let (bell, waker) = bell();
        Self {
            future: Box::pin(future),
            bell,
            waker,
        }
    }

    /// A future that has nothing to do yet.
    pub(crate) fn waiting(future: impl Future<Output = R> + 'a) -> Self {
        let mut task = Self::new(future);
        assert!(task.poll().is_pending());
        task
    }

    pub(crate) fn poll(&mut self) -> Poll<R> {
        self.future
            .as_mut()
            .poll(&mut Context::from_waker(&self.waker))
    }

    /// What it is ready with.
    pub(crate) fn ready(&mut self) -> R {
        match self.poll() {
            Poll::Ready(result) => result,
            Poll::Pending => panic!("it still waits"),
        }
    }

    pub(crate) fn rings(&self) -> usize {
        self.bell.rings()
    }
}

/// What a future is ready with at its first poll.
pub(crate) fn at_once<R>(future: impl Future<Output = R>) -> R {
    Task::new(future).ready()
}
