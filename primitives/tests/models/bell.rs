//! A waker for models in which locks are taken.

use loom::sync::Notify;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Ends the waits of one thread, and counts how often it was called.
///
/// It is no `unpark`: loom lets that one through a lock that the thread happens to be blocked at.
#[derive(Default)]
pub(crate) struct Bell {
    rung: Notify,
    /// Std's on purpose: it must not order what the model explores.
    rings: AtomicUsize,
}

impl Bell {
    /// How often it rang.
    pub(crate) fn rings(&self) -> usize {
        self.rings.load(Ordering::Relaxed)
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rings.fetch_add(1, Ordering::Relaxed);
        self.rung.notify();
    }
}

/// Polls until ready, and blocks the calling thread in between. Tells how often it was rung, too.
pub(crate) fn wait<R>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<R>) -> (R, usize) {
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(bell.clone());
    loop {
        if let Poll::Ready(ready) = poll(&mut Context::from_waker(&waker)) {
            return (ready, bell.rings());
        }
        bell.rung.wait();
    }
}
