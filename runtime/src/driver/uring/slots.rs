//! The in-flight table: everything that the kernel still works on, kept alive until its last
//! completion.
//!
//! Owner: one shard's thread. A slot is taken when an operation is queued and freed by the one
//! completion of that operation that carries no MORE flag; cancels have no slot, so exactly one
//! such completion comes for each slot. A freed slot's generation moves on, so that a completion
//! that names an older one touches nothing.

use super::token::GENERATION_MASK;

/// One operation in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) index: u32,
    pub(super) generation: u32,
}

/// Operations in flight, each with what it keeps alive.
#[derive(Debug)]
pub(super) struct Slots<T> {
    entries: Vec<Slot<T>>,
    /// The first free entry, or [`NONE`].
    free: u32,
    live: usize,
}

#[derive(Debug)]
struct Slot<T> {
    generation: u32,
    state: State<T>,
}

#[derive(Debug)]
enum State<T> {
    Free { next: u32 },
    Taken(T),
}

const NONE: u32 = u32::MAX;

impl<T> Slots<T> {
    pub(super) fn new() -> Self {
        Self {
            entries: Vec::new(),
            free: NONE,
            live: 0,
        }
    }

    /// Takes a slot for `op`. Allocates only when more are in flight than ever before.
    pub(super) fn insert(&mut self, op: T) -> Key {
        self.live += 1;
        if self.free == NONE {
            let index = u32::try_from(self.entries.len())
                .ok()
                .filter(|index| *index < NONE);
            let index = index.expect("a descriptor table ends long before 2^32 operations");
            self.entries.push(Slot {
                generation: 0,
                state: State::Taken(op),
            });
            return Key {
                index,
                generation: 0,
            };
        }
        let index = self.free;
        let slot = &mut self.entries[index as usize];
        if let State::Free { next } = slot.state {
            self.free = next;
        }
        slot.state = State::Taken(op);
        Key {
            index,
            generation: slot.generation,
        }
    }

    /// The operation of `key`, if it is still in flight.
    pub(super) fn get(&self, key: Key) -> Option<&T> {
        match self.entries.get(key.index as usize) {
            Some(Slot {
                generation,
                state: State::Taken(op),
            }) if *generation == key.generation => Some(op),
            _ => None,
        }
    }

    /// As [`Slots::get`], to change it.
    pub(super) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        match self.entries.get_mut(key.index as usize) {
            Some(Slot {
                generation,
                state: State::Taken(op),
            }) if *generation == key.generation => Some(op),
            _ => None,
        }
    }

    /// Frees the slot of `key` and hands back what it kept, if it is still in flight.
    pub(super) fn remove(&mut self, key: Key) -> Option<T> {
        self.get(key)?;
        let slot = &mut self.entries[key.index as usize];
        slot.generation = (slot.generation + 1) & GENERATION_MASK;
        let state = std::mem::replace(&mut slot.state, State::Free { next: self.free });
        self.free = key.index;
        self.live -= 1;
        match state {
            State::Taken(op) => Some(op),
            State::Free { .. } => None,
        }
    }

    /// Operations in flight.
    pub(super) fn live(&self) -> usize {
        self.live
    }

    /// Every operation in flight.
    pub(super) fn keys(&self) -> impl Iterator<Item = Key> {
        let indexed = (0..).zip(&self.entries);
        indexed
            .filter(|(_, slot)| matches!(slot.state, State::Taken(_)))
            .map(|(index, slot)| Key {
                index,
                generation: slot.generation,
            })
    }

    /// Leaves what is in flight to the kernel for ever: nothing that it may still write to is
    /// freed.
    pub(super) fn leak(&mut self) -> usize {
        let left = self.live;
        for slot in std::mem::take(&mut self.entries) {
            if let State::Taken(op) = slot.state {
                std::mem::forget(op);
            }
        }
        self.free = NONE;
        self.live = 0;
        left
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn late_completion_does_not_touch_a_reused_slot() {
        let mut slots = Slots::new();
        let first = slots.insert("first");
        assert_eq!(slots.remove(first), Some("first"));
        let second = slots.insert("second");
        assert_eq!(second.index, first.index);
        assert_eq!(slots.get(first), None);
        assert_eq!(slots.remove(first), None);
        assert_eq!(slots.get(second), Some(&"second"));
        assert_eq!(slots.live(), 1);
    }

    #[test]
    fn freed_slots_are_reused_before_new_ones_are_made() {
        let mut slots = Slots::new();
        let keys: Vec<Key> = (0..100).map(|n| slots.insert(n)).collect();
        for key in &keys {
            assert!(slots.remove(*key).is_some());
        }
        for n in 0..100 {
            assert!(slots.insert(n).index < 100);
        }
        assert_eq!(slots.live(), 100);
    }

    #[test]
    fn leak_frees_nothing_that_is_in_flight() {
        struct Tells<'a>(&'a Cell<u32>);
        impl Drop for Tells<'_> {
            fn drop(&mut self) {
                self.0.set(self.0.get() + 1);
            }
        }
        let freed = Cell::new(0);
        let mut slots = Slots::new();
        let over = slots.insert(Tells(&freed));
        slots.insert(Tells(&freed));
        drop(slots.remove(over));
        assert_eq!(slots.leak(), 1);
        assert_eq!(slots.live(), 0);
        drop(slots);
        assert_eq!(freed.get(), 1, "the one that was over");
    }
}
