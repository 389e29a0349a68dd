//! Futures that are polled by hand.

use crate::bell::{Bell, bell};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

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

pub(crate) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Calls a function when woken.
pub(crate) struct Act<F>(pub(crate) F);

impl<F: Fn() + Send + Sync + 'static> Wake for Act<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}

pub(crate) fn cx(waker: &Waker) -> Context<'_> {
    Context::from_waker(waker)
}
