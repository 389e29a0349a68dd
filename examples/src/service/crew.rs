//! Tasks of one kind on one shard, whose end is waited for as a whole.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::panic::resume_unwind;
use std::rc::Rc;
use std::task::{Poll, Waker};

use corelane::JoinError;

/// Counts its tasks and keeps none of them. A clone is the same crew.
#[derive(Clone, Debug, Default)]
pub(super) struct Crew(Rc<State>);

#[derive(Debug, Default)]
struct State {
    working: Cell<usize>,
    panicked: RefCell<Option<JoinError>>,
    waker: RefCell<Option<Waker>>,
}

impl Crew {
    /// Starts a task on this shard.
    pub(super) fn start(&self, work: impl Future<Output = ()> + 'static) {
        let state = Rc::clone(&self.0);
        state.working.set(state.working.get() + 1);
        corelane::spawn(async move {
            if let Err(error) = corelane::spawn(work).await {
                state.panicked.borrow_mut().get_or_insert(error);
            }
            state.working.set(state.working.get() - 1);
            state.waker.take().into_iter().for_each(Waker::wake);
        })
        .detach();
    }

    /// How many tasks have not ended.
    pub(super) fn working(&self) -> usize {
        self.0.working.get()
    }

    /// Waits until every task that was started has ended.
    ///
    /// # Panics
    ///
    /// With the first panic of a task.
    pub(super) async fn done(&self) {
        poll_fn(|cx| {
            let panicked = self.0.panicked.borrow_mut().take();
            if let Some(panic) = panicked.and_then(JoinError::into_panic) {
                resume_unwind(panic);
            }
            if self.working() == 0 {
                return Poll::Ready(());
            }
            self.0.waker.replace(Some(cx.waker().clone()));
            Poll::Pending
        })
        .await;
    }
}
