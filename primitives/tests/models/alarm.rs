//! A waker for models in which nobody is blocked but in `park`.

use loom::thread::Thread;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Wake;

/// A waker for a thread of the model, which counts how often it was called.
///
/// The count is std's on purpose: it must not order what the model explores.
pub(crate) struct Alarm {
    thread: Thread,
    rings: AtomicUsize,
}

impl Alarm {
    /// For the calling thread.
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            thread: loom::thread::current(),
            rings: AtomicUsize::new(0),
        })
    }

    /// How often this alarm rang.
    pub(crate) fn rings(&self) -> usize {
        self.rings.load(Ordering::Relaxed)
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rings.fetch_add(1, Ordering::Relaxed);
        self.thread.unpark();
    }
}
