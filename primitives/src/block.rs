//! Waiting on a thread that has nothing else to do.
//!
//! Rule: whoever waits here is woken as a task would be; nothing spins, and there is no timer but
//! the caller's own timeout, which the kernel keeps.

use crate::timers::{nanos, system_now_ns};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

struct Sleeper(Thread);

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// Parks the thread until `future` is ready. One that is ready at once costs no allocation.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let output = block_on_for(future, Duration::MAX);
    output.expect("a wait of 584 years never ends by time")
}

/// [`block_on`], or `None` when `timeout` has passed before; the future is dropped then.
///
/// It is polled at least once, and once more after the time has come. `Duration::MAX` never ends.
pub(crate) fn block_on_for<F: Future>(future: F, timeout: Duration) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
        return Some(output);
    }
    let deadline_ns = match nanos(timeout) {
        u64::MAX => None,
        ns => Some(system_now_ns().saturating_add(ns)),
    };
    let waker = thread_waker();
    let mut cx = Context::from_waker(&waker);
    loop {
        // This poll replaces the waker that does nothing, and looks once more.
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return Some(output);
        }
        let left_ns = deadline_ns.map_or(u64::MAX, |ns| ns.saturating_sub(system_now_ns()));
        if left_ns == 0 {
            return None;
        }
        nap(left_ns);
    }
}

/// A waker that ends a [`nap`] of this thread.
pub(crate) fn thread_waker() -> Waker {
    Waker::from(Arc::new(Sleeper(thread::current())))
}

/// Sleeps until a waker of this thread is called, or for `ns`; the largest number stands for ever.
pub(crate) fn nap(ns: u64) {
    match ns {
        u64::MAX => thread::park(),
        ns => thread::park_timeout(Duration::from_nanos(ns)),
    }
}
