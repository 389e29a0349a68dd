//! The task table: a slot a task, reused with a new generation.

use std::cell::{Cell, RefCell};

use super::raw::TaskRef;
use super::token::{Generation, SLOTS_MAX, Slot};

#[derive(Default)]
struct Entry {
    task: Option<TaskRef>,
    generation: Generation,
}

/// All tasks of a shard.
///
/// Owner: the shard's thread. No call runs foreign code: tasks are handed out, never dropped here.
#[derive(Default)]
pub(crate) struct TaskTable {
    entries: RefCell<Vec<Entry>>,
    free: RefCell<Vec<Slot>>,
    live: Cell<usize>,
}

impl TaskTable {
    /// A free slot and the generation that its next task has, or `None` when all 2^24 are taken.
    #[inline]
    pub(crate) fn reserve(&self) -> Option<(Slot, Generation)> {
        let mut entries = self.entries.borrow_mut();
        let slot = match self.free.borrow_mut().pop() {
            Some(slot) => slot,
            None if entries.len() == SLOTS_MAX => return None,
            None => {
                entries.push(Entry::default());
                Slot::new(entries.len() - 1)
            }
        };
        Some((slot, entries[slot.index()].generation))
    }

    /// Puts a task into the slot that was reserved for it.
    #[inline]
    pub(crate) fn put(&self, slot: Slot, task: TaskRef) {
        self.live.set(self.live.get() + 1);
        self.entries.borrow_mut()[slot.index()].task = Some(task);
    }

    /// Calls `f` with the task in `slot`, if there is one.
    #[inline]
    pub(crate) fn with<R>(&self, slot: Slot, f: impl FnOnce(&TaskRef) -> R) -> Option<R> {
        self.entries
            .borrow()
            .get(slot.index())
            .and_then(|entry| entry.task.as_ref())
            .map(f)
    }

    /// As [`TaskTable::with`], for the task of `generation` alone.
    #[inline]
    pub(crate) fn with_exact<R>(
        &self,
        slot: Slot,
        generation: Generation,
        f: impl FnOnce(&TaskRef) -> R,
    ) -> Option<R> {
        let entries = self.entries.borrow();
        let entry = entries
            .get(slot.index())
            .filter(|entry| entry.generation == generation)?;
        entry.task.as_ref().map(f)
    }

    /// Takes an ended task out and frees its slot.
    #[inline]
    pub(crate) fn remove(&self, slot: Slot) -> Option<TaskRef> {
        let mut entries = self.entries.borrow_mut();
        let entry = &mut entries[slot.index()];
        let task = entry.task.take()?;
        entry.generation = entry.generation.next();
        self.free.borrow_mut().push(slot);
        self.live.set(self.live.get() - 1);
        Some(task)
    }

    /// Tasks that have not ended.
    #[inline]
    pub(crate) fn live(&self) -> usize {
        self.live.get()
    }

    /// Slots ever used: what a scan of the mailbox must cover.
    #[inline]
    pub(crate) fn slots(&self) -> usize {
        self.entries.borrow().len()
    }

    /// Any task that is left, for the end of a shard.
    pub(crate) fn any(&self) -> Option<TaskRef> {
        self.entries
            .borrow()
            .iter()
            .find_map(|entry| entry.task.clone())
    }
}
