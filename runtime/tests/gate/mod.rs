//! A gate that any thread opens for a task: a count, and the waker of who waits for it.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;

#[derive(Default)]
struct State {
    open: u64,
    /// Nobody opens it any more.
    given_up: bool,
    waiting: Option<Waker>,
}

#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<Mutex<State>>);

impl Gate {
    fn change(&self, change: impl FnOnce(&mut State)) {
        let waiting = {
            let mut state = self.0.lock().unwrap();
            change(&mut state);
            state.waiting.take()
        };
        if let Some(waker) = waiting {
            waker.wake();
        }
    }

    /// Lets one more pass.
    pub(crate) fn open(&self) {
        self.change(|state| state.open += 1);
    }

    /// Lets nobody pass any more: who waits panics.
    pub(crate) fn give_up(&self) {
        self.change(|state| state.given_up = true);
    }

    /// Blocks until somebody waits, for a bounded number of looks.
    pub(crate) fn wait_for_waiter(&self) {
        for _ in 0..10_000_000 {
            if self.0.lock().unwrap().waiting.is_some() {
                return;
            }
            thread::yield_now();
        }
        panic!("nobody waits at the gate");
    }

    /// Waits until it is open, and passes.
    pub(crate) async fn pass(&self) {
        poll_fn(|cx| {
            let mut state = self.0.lock().unwrap();
            assert!(!state.given_up, "a wake was lost");
            if let Some(left) = state.open.checked_sub(1) {
                state.open = left;
                return Poll::Ready(());
            }
            state.waiting = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}
