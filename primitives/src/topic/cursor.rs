//! A feed's hold on a part of one log.

use super::copies::{BATCH_MAX, Copies, Reader};
use super::local::{After, FeedId, Local};
use super::log::Log;
use super::part::{Owned, Part};
use crate::feed::FeedStats;
use crate::panics::Panics;
use std::cell::{Cell, RefCell, RefMut};
use std::marker::PhantomData;
use std::sync::Arc;

/// One seat on a part. It is the proof that its holder may touch the part's local side: a cursor
/// on a shared part stays on that part's thread, inside a feed that is not Send; a cursor that may
/// travel has its part alone.
pub(crate) struct Cursor<T> {
    pub(super) log: Arc<Log<T>>,
    pub(super) part: Arc<Part<T>>,
    id: FeedId,
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
            alone: PhantomData,
        }
    }

    pub(super) fn id(&self) -> FeedId {
        self.id
    }

    pub(super) fn local(&self) -> &RefCell<Local<T>> {
        &self.owned().local
    }

    fn owned(&self) -> &Owned<T> {
        // SAFETY: Valid: the part lives as long as this cursor. Exclusive: whoever has a cursor is
        // on the owner's thread or alone with the part, as said above; the cells check the rest.
        unsafe { self.part.owned() }
    }

    pub(super) fn look(&self) -> Look<'_, T> {
        Look {
            log: &self.log,
            part: &self.part,
            owned: self.owned(),
        }
    }

    pub(super) fn stats(&self) -> FeedStats {
        self.local().borrow().stats(self.id, &self.log)
    }

    /// How much of the log was seen, in the numbers of [`Log::news`].
    pub(super) fn seen(&self) -> u64 {
        self.local().borrow().seen()
    }
}

impl<T: Clone> Cursor<T> {
    /// The next value; `Err` says whether there will never be one.
    pub(super) fn try_next(&mut self) -> (Result<T, bool>, After) {
        self.try_take(1, Copies::take)
    }

    /// The next values, up to `max`, at the end of `out`: how many. `Err` says whether there will
    /// never be one.
    pub(super) fn try_batch(
        &mut self,
        out: &mut Vec<T>,
        max: usize,
    ) -> (Result<usize, bool>, After) {
        self.try_take(max.min(BATCH_MAX), |copies, reader| {
            copies.take_batch(reader, out, max)
        })
    }

    /// Shows the next values, up to `max`, to `visit`, a run at a time; it says how many of a run
    /// it takes, and does not panic. How many it took; `Err` says whether there will never be one.
    pub(super) fn try_visit(
        &mut self,
        max: usize,
        visit: impl FnMut(&[T]) -> usize,
    ) -> (Result<usize, bool>, After) {
        self.try_take(max.min(BATCH_MAX), |copies, reader| {
            copies.visit(reader, max, visit)
        })
    }

    fn try_take<R>(
        &mut self,
        wanted: usize,
        take: impl FnOnce(&mut Copies<T>, &mut Reader<T>) -> Option<R>,
    ) -> (Result<R, bool>, After) {
        let mut after = After::default();
        let parts = (&*self.log, &*self.part);
        let look = self.look();
        let mut local = look.local();
        let taken = local.take(self.id, wanted, parts, &mut after, take);
        drop(local);
        drop(look);
        (taken, after)
    }
}

/// A look at a part, in which values are cloned and dropped. Its end, which a panic may bring too,
/// ends the feeds that were dropped by that.
pub(super) struct Look<'a, T> {
    pub(super) log: &'a Arc<Log<T>>,
    pub(super) part: &'a Arc<Part<T>>,
    pub(super) owned: &'a Owned<T>,
}

impl<T> Look<'_, T> {
    /// Borrows the local side, to be given back before this ends.
    #[inline]
    pub(super) fn local(&self) -> RefMut<'_, Local<T>> {
        self.owned.local.borrow_mut()
    }
}

impl<T> Drop for Look<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // Ends: it repeats only for feeds that have gone, of which none comes back.
        loop {
            let departed = self.owned.departed.borrow_mut().pop();
            let Some(id) = departed else { return };
            let (log, part) = (Arc::clone(self.log), Arc::clone(self.part));
            drop(Cursor::new(log, part, id));
        }
    }
}

impl<T> Drop for Cursor<T> {
    fn drop(&mut self) {
        let mut after = After::default();
        let (leftovers, left) = {
            let Ok(mut local) = self.local().try_borrow_mut() else {
                // A value's clone or drop is at work, in a look that ends this feed afterwards.
                return self.owned().departed.borrow_mut().push(self.id);
            };
            let leftovers = local.leave(self.id, &self.part, &mut after);
            (leftovers, local.has_left())
        };
        let mut panics = Panics::default();
        if left {
            self.log.forget(&self.part);
            panics.run(|| self.log.reclaim_retired(&self.part));
            panics.run(|| self.log.room.notify(|| self.log.free()));
        } else {
            panics.run(|| after.run(&self.log));
        }
        panics.run(|| drop(leftovers));
        panics.resume();
    }
}
