//! Several tasks at one place, each with a waker of its own: who is not woken is not polled.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

pub(crate) type Task<T> = Pin<Box<dyn Future<Output = T>>>;

/// The waker of one task, and the place to be told.
struct Bell {
    is_rung: AtomicBool,
    place: Arc<Mutex<Waker>>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Release, partner `all`: what happened before the wake is seen by the poll after it.
        self.is_rung.store(true, Ordering::Release);
        let place = self.place.lock().unwrap().clone();
        place.wake();
    }
}

struct Running<T> {
    bell: Arc<Bell>,
    waker: Waker,
    /// Gone once it has ended.
    task: Option<Task<T>>,
    output: Option<T>,
}

/// Runs `tasks` side by side until all have ended, and gives what they end in.
pub(crate) async fn all<T>(tasks: Vec<Task<T>>) -> Vec<T> {
    let place = Arc::new(Mutex::new(Waker::noop().clone()));
    let running = |task| {
        let bell = Arc::new(Bell {
            is_rung: AtomicBool::new(true),
            place: Arc::clone(&place),
        });
        Running {
            waker: Waker::from(Arc::clone(&bell)),
            bell,
            task: Some(task),
            output: None,
        }
    };
    let mut running: Vec<_> = tasks.into_iter().map(running).collect();
    poll_fn(|cx| {
        place.lock().unwrap().clone_from(cx.waker());
        let mut is_over = true;
        for one in &mut running {
            one.poll();
            is_over &= one.task.is_none();
        }
        if is_over {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    let outputs = running.into_iter().map(|one| one.output);
    outputs
        .map(|output| output.expect("it has ended"))
        .collect()
}

impl<T> Running<T> {
    /// Polls the task if it was woken.
    fn poll(&mut self) {
        let Some(task) = &mut self.task else { return };
        if !self.bell.is_rung.swap(false, Ordering::Acquire) {
            return;
        }
        if let Poll::Ready(output) = task.as_mut().poll(&mut Context::from_waker(&self.waker)) {
            // A task that has ended is dropped at once, as an executor does.
            self.task = None;
            self.output = Some(output);
        }
    }
}
