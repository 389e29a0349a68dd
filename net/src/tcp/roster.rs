//! The connections that are open on one shard.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use corelane::JoinHandle;
use corelane::task::wake;
use corelane::time::{Instant, timeout_at};

/// The tasks of the open connections, and who waits for the close.
#[derive(Default)]
pub(super) struct Roster {
    /// Every open connection by its number; the task is there once it was spawned.
    tasks: RefCell<BTreeMap<u64, Option<JoinHandle<()>>>>,
    /// The last number that was given.
    last: Cell<u64>,
    closing: Cell<bool>,
    /// Handlers that wait for the close.
    waiting: RefCell<BTreeMap<u64, Waker>>,
    /// Who waits for the last connection to end.
    drained: Cell<Option<Waker>>,
}

/// A connection's place in the roster; dropping it leaves.
pub(super) struct Entry {
    roster: Rc<Roster>,
    number: u64,
}

impl Roster {
    pub(super) fn enter(this: &Rc<Self>) -> Entry {
        let number = this.number();
        this.tasks.borrow_mut().insert(number, None);
        let roster = Rc::clone(this);
        Entry { roster, number }
    }

    /// Keeps the task of a connection, so that it can be cut. One that has ended already is not.
    pub(super) fn keep(&self, number: u64, task: JoinHandle<()>) {
        if let Some(place) = self.tasks.borrow_mut().get_mut(&number) {
            *place = Some(task);
        }
    }

    /// Tells the handlers to close, lets them until `until`, and cuts those that are left.
    pub(super) async fn drain(&self, until: Instant) {
        self.closing.set(true);
        let waiting = self.waiting.take();
        waiting.into_values().for_each(wake);
        if timeout_at(until, self.emptied()).await.is_err() {
            self.cut();
            self.emptied().await;
        }
    }

    /// Drops every connection between two polls of its task.
    pub(super) fn cut(&self) {
        for task in self.tasks.borrow().values().flatten() {
            task.abort();
        }
    }

    async fn emptied(&self) {
        poll_fn(|cx| {
            if self.tasks.borrow().is_empty() {
                return Poll::Ready(());
            }
            self.drained.set(Some(cx.waker().clone()));
            Poll::Pending
        })
        .await;
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.get()
    }

    /// Keeps the waker of a handler that waits for the close, in the place that it had before.
    pub(super) fn wait(&self, place: Option<u64>, waker: &Waker) -> u64 {
        let place = place.unwrap_or_else(|| self.number());
        self.waiting.borrow_mut().insert(place, waker.clone());
        place
    }

    pub(super) fn wait_no_more(&self, place: u64) {
        self.waiting.borrow_mut().remove(&place);
    }

    /// How many wait for the close.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.waiting.borrow().len()
    }

    fn number(&self) -> u64 {
        self.last.set(self.last.get() + 1);
        self.last.get()
    }
}

impl Entry {
    pub(super) fn number(&self) -> u64 {
        self.number
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut tasks = self.roster.tasks.borrow_mut();
        let task = tasks.remove(&self.number);
        let is_empty = tasks.is_empty();
        drop(tasks);
        drop(task);
        if is_empty {
            let drained = self.roster.drained.take();
            drained.into_iter().for_each(wake);
        }
    }
}
