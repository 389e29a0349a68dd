//! The task table: a slot a task, reused with a new generation.

use std::cell::UnsafeCell;

use super::raw::TaskRef;
use super::token::{Generation, SLOTS_MAX, Slot};

struct Entry {
    task: Option<TaskRef>,
    generation: Generation,
    /// The next free slot, while this one is free.
    next_free: Option<Slot>,
}

#[derive(Default)]
struct Slots {
    entries: Vec<Entry>,
    free: Option<Slot>,
}

/// All tasks of a shard.
///
/// Owner: the shard's thread. No call runs foreign code: tasks are handed out, never dropped here.
#[derive(Default)]
pub(crate) struct TaskTable {
    slots: UnsafeCell<Slots>,
}

impl Slots {
    /// A slot that was never used before.
    #[cold]
    fn grow(&mut self, open: impl FnOnce(Slot)) -> Option<Slot> {
        if self.entries.len() == SLOTS_MAX {
            return None;
        }
        let generation = Generation::default();
        self.entries.push(Entry {
            task: None,
            generation,
            next_free: None,
        });
        let slot = Slot::new(self.entries.len() - 1);
        open(slot);
        Some(slot)
    }
}

impl TaskTable {
    #[inline]
    fn with_slots<R>(&self, f: impl FnOnce(&mut Slots) -> R) -> R {
        // SAFETY: Valid: the table lives. Exclusive: the table is on one thread (`UnsafeCell` makes
        // it `!Sync`), and no `f` in this file calls anything that comes back here.
        f(unsafe { &mut *self.slots.get() })
    }

    /// Takes a free slot out, with its next task's generation. `None` when all 2^24 slots are
    /// taken.
    ///
    /// `open` is called first with a slot that was never used before.
    #[inline]
    pub(crate) fn vacate(&self, open: impl FnOnce(Slot)) -> Option<(Slot, Generation)> {
        self.with_slots(|slots| {
            let slot = match slots.free {
                Some(slot) => slot,
                None => slots.grow(open)?,
            };
            let entry = &mut slots.entries[slot.index()];
            slots.free = entry.next_free;
            Some((slot, entry.generation))
        })
    }

    /// Puts a task into a slot that was taken out for it.
    #[inline]
    pub(crate) fn occupy(&self, slot: Slot, task: TaskRef) {
        self.with_slots(|slots| slots.entries[slot.index()].task = Some(task));
    }

    /// The task in `slot`, if there is one.
    #[inline]
    pub(crate) fn task(&self, slot: Slot) -> Option<TaskRef> {
        self.with_slots(|slots| slots.entries.get(slot.index()).and_then(|entry| entry.task))
    }

    /// The task of `generation` in `slot`, if it has not ended.
    #[inline]
    pub(crate) fn exact(&self, slot: Slot, generation: Generation) -> Option<TaskRef> {
        self.with_slots(|slots| {
            let entry = slots.entries.get(slot.index())?;
            if entry.generation == generation {
                entry.task
            } else {
                None
            }
        })
    }

    /// Frees the slot of an ended task.
    #[inline]
    pub(crate) fn remove(&self, slot: Slot) {
        self.with_slots(|slots| {
            let entry = &mut slots.entries[slot.index()];
            entry.task = None;
            entry.generation = entry.generation.next();
            entry.next_free = slots.free;
            slots.free = Some(slot);
        });
    }

    /// Slots ever used: what a scan of the mailbox must cover.
    #[inline]
    pub(crate) fn slots(&self) -> usize {
        self.with_slots(|slots| slots.entries.len())
    }

    /// The tasks that are left, for the end of a shard.
    pub(crate) fn all(&self) -> Vec<TaskRef> {
        self.with_slots(|slots| {
            slots
                .entries
                .iter()
                .filter_map(|entry| entry.task)
                .collect()
        })
    }
}
