//! Two plain threads, each with a `block_on` that knows nothing of the primitives.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use super::Host;
use super::side_by_side::{on_threads, on_two_threads};

#[derive(Debug)]
pub(crate) struct Threads;

impl Host for Threads {
    fn pair<L, LF, R, RF>(&self, left: L, right: R) -> (LF::Output, RF::Output)
    where
        L: FnOnce() -> LF + Send + 'static,
        LF: Future + 'static,
        LF::Output: Send + 'static,
        R: FnOnce() -> RF + Send + 'static,
        RF: Future + 'static,
        RF::Output: Send + 'static,
    {
        on_two_threads(|| block_on(left()), || block_on(right()))
    }

    fn each<W, F>(&self, works: Vec<W>) -> Vec<F::Output>
    where
        W: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
        F::Output: Send + 'static,
    {
        on_threads(works, |work| block_on(work()))
    }
}

/// Unparks the thread that waits, once a wake.
struct Unpark {
    thread: Thread,
    woken: AtomicBool,
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Release, partner `block_on`: what happened before the wake is seen by the poll after it.
        self.woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// Polls `future` once, and then once for each time it was woken in between.
pub(super) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let unpark = Arc::new(Unpark {
        thread: thread::current(),
        woken: AtomicBool::new(false),
    });
    let waker = Waker::from(Arc::clone(&unpark));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        // A park may end without a wake; that is no reason to poll.
        while !unpark.woken.swap(false, Ordering::Acquire) {
            thread::park();
        }
    }
}
