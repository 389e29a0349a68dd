//! Lane ends that belong to a shard: they push and pop without a fence, and the shard tells the
//! other end once a turn, or at once where the other end looks parked.
//!
//! Owner: one shard's thread. A bare [`Producer`] must be told when to notify; an [`Outlet`] puts
//! itself on its shard's list at the first push of a turn, and the shard notifies for all of them
//! after its slice (bench row `mesh_one_way`). Losing an end needs no list: dropping it wakes the
//! other.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context as TaskContext, Poll, Waker};

use crate::error::contain;
use crate::shard::Context;
use crate::task::wake_all;

mod inlet;
mod outlet;

pub use inlet::Inlet;
pub use outlet::Outlet;

/// Values that pass an end in one turn before its task lets others run.
const TURN_MAX: u32 = 256;

/// Tells the other end of a lane. What waits there may be of another executor: if its waker panics,
/// it alone has missed its wake, until the next one.
fn notify_other(notify: impl FnOnce() -> bool) {
    contain("the waker at the other end of a lane", || {
        notify();
    });
}

/// What the shard notifies at the end of a turn.
pub(super) trait Notify {
    fn notify(&self);
}

struct End<L> {
    lane: RefCell<L>,
    /// Values that passed this end since the other one was told. Not zero: the end is on its
    /// shard's list.
    passed: Cell<u32>,
    /// The tasks that wait at this end. The lane wakes the last one, which wakes the others.
    waiting: RefCell<Vec<Waker>>,
}

impl<L> End<L>
where
    Self: Notify + 'static,
{
    fn new(lane: L) -> Rc<Self> {
        Rc::new(Self {
            lane: RefCell::new(lane),
            passed: Cell::new(0),
            waiting: RefCell::default(),
        })
    }

    /// Counts what has passed, and makes sure that the other end is told after this turn.
    #[inline]
    fn pass(self: &Rc<Self>, count: u32) -> u32 {
        let before = self.passed.get();
        self.passed.set(before.saturating_add(count));
        if before == 0 {
            self.list();
        }
        self.passed.get()
    }

    #[cold]
    fn list(self: &Rc<Self>) {
        let this = Rc::clone(self);
        if Context::try_with(|context| context.mesh().notify_later(this)).is_none() {
            self.notify();
        }
    }

    /// Pending when enough has passed this turn: the task comes again after the others.
    #[inline]
    fn poll_turn(&self, cx: &mut TaskContext<'_>) -> Poll<()> {
        if self.passed.get() < TURN_MAX {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<L> End<L> {
    fn wait(&self, waker: &Waker) {
        let mut waiting = self.waiting.borrow_mut();
        if !waiting.iter().any(|known| known.will_wake(waker)) {
            waiting.push(waker.clone());
        }
    }

    /// Lets everybody who waits here look again.
    #[cold]
    fn wake_waiting(&self) {
        let mut waiting = std::mem::take(&mut *self.waiting.borrow_mut());
        wake_all(waiting.drain(..));
        // The list goes back for the next wait, unless a foreign waker has made a new one.
        let mut list = self.waiting.borrow_mut();
        if list.capacity() == 0 {
            *list = waiting;
        }
    }
}

/// One future's wait at an end, which several may wait at: when it is over, or given up, the others
/// look again, since the lane knows the last of them alone.
struct Wait<'a, L> {
    end: &'a End<L>,
    waits: bool,
}

impl<'a, L> Wait<'a, L> {
    #[inline]
    fn new(end: &'a End<L>) -> Self {
        Self { end, waits: false }
    }

    fn poll<R>(
        &mut self,
        cx: &mut TaskContext<'_>,
        poll: impl FnOnce(&mut L, &mut TaskContext<'_>) -> Poll<R>,
    ) -> Poll<R> {
        let polled = poll(&mut self.end.lane.borrow_mut(), cx);
        if polled.is_pending() {
            self.waits = true;
            self.end.wait(cx.waker());
        } else {
            self.waits = false;
            self.end.wake_waiting();
        }
        polled
    }
}

impl<L> Drop for Wait<'_, L> {
    #[inline]
    fn drop(&mut self) {
        if self.waits {
            self.end.wake_waiting();
        }
    }
}
