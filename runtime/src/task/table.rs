//! The task table: a slot a task, reused with a new generation.

use std::cell::UnsafeCell;

use super::raw::TaskRef;
use super::token::{Generation, SLOTS_MAX, Slot};

/// Slots that the first task makes room for.
const SLOTS_FIRST: usize = 64;

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
/// Owner: the shard's thread. No call runs foreign code while the slots are borrowed: tasks are
/// handed out, never dropped here, and memory is allocated and freed outside of the borrow, since a
/// program's allocator is its own code and may spawn.
#[derive(Default)]
pub(crate) struct TaskTable {
    slots: UnsafeCell<Slots>,
}

impl Slots {
    /// A free slot that was used before, with its next generation.
    #[inline]
    fn reuse(&mut self) -> Option<(Slot, Generation)> {
        let slot = self.free?;
        let entry = &self.entries[slot.index()];
        self.free = entry.next_free;
        Some((slot, entry.generation))
    }

    /// A slot that was never used before, if there is memory for it.
    fn extend(&mut self) -> Option<(Slot, Generation)> {
        if self.entries.len() == self.entries.capacity() {
            return None;
        }
        let (slot, generation) = (Slot::new(self.entries.len()), Generation::default());
        self.entries.push(Entry {
            task: None,
            generation,
            next_free: None,
        });
        Some((slot, generation))
    }

    /// Moves the entries to `larger` memory, and leaves there what is not needed any more.
    fn move_to(&mut self, larger: &mut Vec<Entry>) {
        if larger.capacity() > self.entries.capacity() {
            larger.append(&mut self.entries);
            std::mem::swap(larger, &mut self.entries);
        }
    }
}

impl TaskTable {
    #[inline]
    fn with_slots<R>(&self, f: impl FnOnce(&mut Slots) -> R) -> R {
        // SAFETY: Valid: the table lives. Exclusive: the table is on one thread (`UnsafeCell` makes
        // it `!Sync`), and no `f` in this file calls anything that comes back here, nor allocates
        // or frees, which may.
        f(unsafe { &mut *self.slots.get() })
    }

    /// Takes a free slot out, with its next task's generation. `None` when all 2^24 slots are
    /// taken.
    ///
    /// `open` is called first with a slot that was never used before.
    #[inline]
    pub(crate) fn vacate(&self, open: impl FnOnce(Slot)) -> Option<(Slot, Generation)> {
        match self.with_slots(Slots::reuse) {
            None => self.grow(open),
            reused => reused,
        }
    }

    #[cold]
    fn grow(&self, open: impl FnOnce(Slot)) -> Option<(Slot, Generation)> {
        loop {
            if let Some((slot, generation)) = self.with_slots(Slots::extend) {
                open(slot);
                return Some((slot, generation));
            }
            let slots = self.slots();
            if slots == SLOTS_MAX {
                return None;
            }
            // Allocating may use the table: whether this is more is looked at afterwards.
            let mut larger = Vec::with_capacity((2 * slots).clamp(SLOTS_FIRST, SLOTS_MAX));
            self.with_slots(|slots| slots.move_to(&mut larger));
        }
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
        (0..self.slots())
            .filter_map(|index| self.task(Slot::new(index)))
            .collect()
    }
}
