//! The entries of a wheel: a slab whose keys outlive their entries.
//!
//! Owner: the wheel. A key carries a serial number that is given once, so a key of an expired timer
//! never reaches the timer that took its place.

/// No entry.
pub(super) const NIL: u32 = u32::MAX;

/// Names one timer for ever: after its expiry the key reaches nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimerKey {
    index: u32,
    serial: u64,
}

impl TimerKey {
    pub(super) fn index(self) -> u32 {
        self.index
    }

    /// The key as a number of 96 bits.
    pub(crate) fn to_bits(self) -> u128 {
        u128::from(self.index) << 64 | u128::from(self.serial)
    }

    /// The key that has these bits; further ones are left out.
    pub(crate) fn from_bits(bits: u128) -> Self {
        Self {
            index: (bits >> 64) as u32,
            serial: bits as u64,
        }
    }
}

/// A timer, or a free place.
#[derive(Debug)]
pub(super) struct Entry<T> {
    /// The tick at which the timer expires.
    pub(super) tick: u64,
    /// The serial number of the timer; of the last one in a free place.
    serial: u64,
    /// The next entry of the slot's list, or of the free list.
    pub(super) next: u32,
    /// The entry before; of a list's first entry, the last one.
    pub(super) prev: u32,
    pub(super) slot: u16,
    /// `None` in a free place.
    value: Option<T>,
}

#[derive(Debug)]
pub(super) struct Slab<T> {
    entries: Vec<Entry<T>>,
    free: u32,
    len: usize,
    /// The number of the last timer. At one timer a nanosecond it lasts for 584 years.
    serial: u64,
}

impl<T> Slab<T> {
    pub(super) fn new() -> Self {
        Self {
            entries: Vec::new(),
            free: NIL,
            len: 0,
            serial: 0,
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Places in use or free.
    #[cfg(test)]
    pub(super) fn places(&self) -> usize {
        self.entries.len()
    }

    /// Takes a place for a timer; the wheel links it.
    pub(super) fn insert(&mut self, tick: u64, value: T) -> TimerKey {
        self.serial += 1;
        self.len += 1;
        let serial = self.serial;
        if self.free != NIL {
            let index = self.free;
            let entry = self.entry_mut(index);
            let next = entry.next;
            entry.tick = tick;
            entry.serial = serial;
            entry.value = Some(value);
            self.free = next;
            return TimerKey { index, serial };
        }
        let index = u32::try_from(self.entries.len()).unwrap_or(NIL);
        assert!(index != NIL, "a shard has 2^32 - 1 timers armed");
        let value = Some(value);
        self.entries.push(Entry {
            tick,
            serial,
            next: NIL,
            prev: NIL,
            slot: 0,
            value,
        });
        TimerKey { index, serial }
    }

    /// Frees an unlinked place and gives its value back.
    pub(super) fn remove(&mut self, index: u32) -> Option<T> {
        let free = self.free;
        let entry = self.entry_mut(index);
        entry.next = free;
        let value = entry.value.take();
        self.free = index;
        self.len -= 1;
        value
    }

    /// Whether the key's timer is armed.
    pub(super) fn holds(&self, key: TimerKey) -> bool {
        let entry = self.entry(key.index);
        entry.serial == key.serial && entry.value.is_some()
    }

    pub(super) fn get_mut(&mut self, key: TimerKey) -> Option<&mut T> {
        let entry = self.entry_mut(key.index);
        if entry.serial == key.serial {
            entry.value.as_mut()
        } else {
            None
        }
    }

    pub(super) fn entry(&self, index: u32) -> &Entry<T> {
        &self.entries[index as usize]
    }

    pub(super) fn entry_mut(&mut self, index: u32) -> &mut Entry<T> {
        &mut self.entries[index as usize]
    }

    pub(super) fn set_links(&mut self, index: u32, slot: u16, prev: u32, next: u32) {
        let entry = self.entry_mut(index);
        entry.slot = slot;
        entry.prev = prev;
        entry.next = next;
    }
}
