//! A feed's hold on its part: what every kind of feed is built on.

use super::copies::{BATCH_MAX, Copies, Reader};
use super::local::{After, FeedId, Local};
use super::log::Log;
use super::part::Part;
use crate::feed::FeedStats;
use crate::panics::Panics;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::sync::Arc;
use std::task::{Context, Poll};

/// One seat on a part. It is the proof that its holder may touch the part's local side: a cursor
/// on a shared part stays on that part's thread, inside a feed that is not Send; a cursor that may
/// travel has its part alone.
pub(crate) struct Cursor<T> {
    pub(super) log: Arc<Log<T>>,
    pub(super) part: Arc<Part<T>>,
    id: FeedId,
    /// Whether the last poll found nothing, so that there may be a wait to be taken back.
    waits: bool,
    /// Two threads never look at one cell: a cursor is not Sync.
    alone: PhantomData<Cell<()>>,
}

impl<T> Cursor<T> {
    /// A hold on the seat `id` of `part`, by the part's owner or for a part without one.
    pub(super) fn new(log: Arc<Log<T>>, part: Arc<Part<T>>, id: FeedId) -> Self {
        Self {
            log,
            part,
            id,
            waits: false,
            alone: PhantomData,
        }
    }

    pub(super) fn id(&self) -> FeedId {
        self.id
    }

    pub(super) fn local(&self) -> &RefCell<Local<T>> {
        // SAFETY: Valid: the part lives as long as this cursor. Exclusive: whoever has a cursor is
        // on the owner's thread or alone with the part, as said above; the cell checks the rest.
        unsafe { self.part.local() }
    }

    /// Takes back a wait that returned Pending, and hands the duty on.
    pub(crate) fn stop_waiting(&mut self) {
        if !std::mem::take(&mut self.waits) {
            return;
        }
        let mut after = After::new();
        self.local().borrow_mut().stop_waiting(self.id, &mut after);
        self.finish(after);
    }

    /// Does what is left to be done after a call on the part's local side.
    fn finish(&self, after: After) {
        let orphaned = after.orphaned;
        after.run(&self.log);
        if orphaned {
            self.hand_on();
        }
    }

    /// Gives the duty of this cursor to another feed that waits, if there is one.
    ///
    /// Whoever rang before the new one was parked rang this cursor's task, which is gone or busy
    /// with something else: so if there are news, the new one is woken here.
    fn hand_on(&self) {
        let next = self
            .local()
            .borrow_mut()
            .next_duty(self.id, &self.log, &self.part);
        let Some(waker) = next else { return };
        self.part.parker.park(&waker);
        if self.local().borrow().has_news(&self.log) {
            waker.wake();
        }
    }

    pub(crate) fn stats(&self) -> FeedStats {
        self.local().borrow().stats(self.id, &self.log)
    }
}

impl<T: Clone> Cursor<T> {
    /// The next value; `Err` says whether there will never be one.
    pub(crate) fn try_next(&mut self) -> Result<T, bool> {
        self.try_take(1, Copies::take)
    }

    /// The next value, or `None` at the end; parks the task otherwise.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.poll_take(cx, 1, Copies::take)
    }

    /// The next values, up to `max`, at the end of `out`: how many. `Err` says whether there will
    /// never be one.
    pub(crate) fn try_batch(&mut self, out: &mut Vec<T>, max: usize) -> Result<usize, bool> {
        self.try_take(max.min(BATCH_MAX), |copies, reader| {
            copies.take_batch(reader, out, max)
        })
    }

    /// The next values, up to `max`, at the end of `out`: how many, or `None` at the end; parks the
    /// task otherwise.
    pub(crate) fn poll_batch(
        &mut self,
        cx: &mut Context<'_>,
        out: &mut Vec<T>,
        max: usize,
    ) -> Poll<Option<usize>> {
        self.poll_take(cx, max.min(BATCH_MAX), |copies, reader| {
            copies.take_batch(reader, out, max)
        })
    }

    /// Shows the next values, up to `max`, to `visit`: how many. `Err` says whether there will
    /// never be one.
    pub(crate) fn try_visit(&mut self, max: usize, visit: impl FnMut(&T)) -> Result<usize, bool> {
        self.try_take(max.min(BATCH_MAX), |copies, reader| {
            copies.visit(reader, max, visit)
        })
    }

    /// Shows the next values, up to `max`, to `visit`: how many, or `None` at the end; parks the
    /// task otherwise.
    pub(crate) fn poll_visit(
        &mut self,
        cx: &mut Context<'_>,
        max: usize,
        mut visit: impl FnMut(&T),
    ) -> Poll<Option<usize>> {
        self.poll_take(cx, max.min(BATCH_MAX), |copies, reader| {
            copies.visit(reader, max, &mut visit)
        })
    }

    fn try_take<R>(
        &mut self,
        wanted: usize,
        take: impl FnOnce(&mut Copies<T>, &mut Reader<T>) -> Option<R>,
    ) -> Result<R, bool> {
        let mut after = After::new();
        let parts = (&*self.log, &*self.part);
        let taken = self
            .local()
            .borrow_mut()
            .take(self.id, wanted, parts, &mut after, take);
        if !matches!(taken, Err(false)) {
            self.waits = false;
        }
        self.finish(after);
        taken
    }

    fn poll_take<R>(
        &mut self,
        cx: &mut Context<'_>,
        wanted: usize,
        mut take: impl FnMut(&mut Copies<T>, &mut Reader<T>) -> Option<R>,
    ) -> Poll<Option<R>> {
        match self.try_take(wanted, &mut take) {
            Ok(taken) => return Poll::Ready(Some(taken)),
            Err(true) => return Poll::Ready(None),
            Err(false) => {}
        }
        self.waits = true;
        let mut after = After::new();
        let parks = self
            .local()
            .borrow_mut()
            .wait(self.id, cx.waker(), &self.log, &mut after);
        after.run(&self.log);
        if !parks {
            return Poll::Pending; // another feed waits for all
        }
        self.part.parker.park(cx.waker());
        // Partner of the parked mark's fence: whoever appended before it saw nobody parked.
        match self.try_take(wanted, take) {
            Ok(taken) => Poll::Ready(Some(taken)),
            Err(true) => Poll::Ready(None),
            Err(false) => Poll::Pending,
        }
    }
}

impl<T> Drop for Cursor<T> {
    fn drop(&mut self) {
        let mut after = After::new();
        let left = {
            let mut local = self.local().borrow_mut();
            local.leave(self.id, &self.part, &mut after);
            local.has_left()
        };
        if left {
            let mut panics = Panics::default();
            panics.run(|| self.finish(after));
            self.log.forget(&self.part);
            panics.run(|| self.part.parker.clear());
            panics.run(|| self.log.reclaim_retired(&self.part));
            panics.run(|| self.log.room.notify(|| self.log.free()));
            panics.resume();
        } else {
            self.finish(after);
        }
    }
}
