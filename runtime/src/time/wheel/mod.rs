//! A hierarchical timing wheel.
//!
//! Owner: one shard. A tick is 4,096 ns; nine levels of 64 slots cover every `u64` of nanoseconds,
//! so no deadline is too far. An entry lies on the level of the highest digit (base 64) in which
//! its tick differs from `elapsed`; it moves down when `elapsed` reaches the start of its slot, at
//! most eight times in its life. Insert and cancel touch one entry, one neighbour and one slot
//! head, and allocate nothing once the slab has grown.
//!
//! Invariants, checked against an ordered map in `tests.rs`:
//! - Every entry's tick is at least `elapsed`; deadlines round up to a tick, so nothing is early.
//! - On levels above 0 every occupied slot lies after the digit of `elapsed`, except the one that
//!   is being moved down (`moving`). So the first occupied slot of the lowest occupied level holds
//!   the next expiry.
//!
//! The scheme is that of G. Varghese and T. Lauck, "Hashed and Hierarchical Timing Wheels" (1987),
//! section 6.2.

mod slab;
#[cfg(test)]
mod tests;

pub(crate) use slab::TimerKey;
use slab::{NIL, Slab};

/// Bits of a nanosecond count below the tick: a tick is 4,096 ns.
const TICK_BITS: u32 = 12;
/// Bits a level: 64 slots.
const LEVEL_BITS: u32 = 6;
/// Slots a level.
const SLOTS: usize = 1 << LEVEL_BITS;
/// Levels: 9 times 6 bits hold the 52 bits of a tick, and the tick after the last.
const LEVELS: usize = 9;
/// Entries that one call moves down at most, so that a slot with 100,000 of them does not stall the
/// shard.
const MOVES_MAX: usize = 256;
/// Entries of a slot that [`Wheel::next_ns`] looks at for an exact answer.
const SCAN_MAX: usize = 8;

/// Timers of type `T` (what to do at the deadline), by deadline.
#[derive(Debug)]
pub(crate) struct Wheel<T> {
    /// The tick up to which everything has expired.
    elapsed: u64,
    /// The slot that is being moved down: `elapsed` is its start, and it may still hold entries.
    moving: Option<u16>,
    /// A bit a level with entries.
    levels: u16,
    /// A bit a slot with entries, by level.
    occupied: [u64; LEVELS],
    /// The first entry of each slot; the last one is its `prev`.
    heads: [u32; LEVELS * SLOTS],
    slab: Slab<T>,
}

/// The first occupied slot of the lowest occupied level.
struct First {
    level: usize,
    slot: u16,
    /// The first tick of the slot.
    start: u64,
}

impl<T> Wheel<T> {
    /// An empty wheel at `now_ns`.
    pub(crate) fn new(now_ns: u64) -> Self {
        Self {
            elapsed: now_ns >> TICK_BITS,
            moving: None,
            levels: 0,
            occupied: [0; LEVELS],
            heads: [NIL; LEVELS * SLOTS],
            slab: Slab::new(),
        }
    }

    /// How many timers are armed.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.slab.len()
    }

    /// Arms a timer. A deadline in the past expires at the next [`Wheel::pop_expired`]; one in the
    /// last tick of the clock never does.
    ///
    /// # Panics
    ///
    /// With 2^32 - 1 timers armed.
    pub(crate) fn insert(&mut self, deadline_ns: u64, value: T) -> TimerKey {
        // Rounds up: early is wrong, late by less than a tick is the resolution.
        let tick = deadline_ns.div_ceil(1 << TICK_BITS).max(self.elapsed);
        let key = self.slab.insert(tick, value);
        self.link(key.index(), tick);
        key
    }

    /// The value of an armed timer; `None` once it has expired or been cancelled.
    pub(crate) fn get_mut(&mut self, key: TimerKey) -> Option<&mut T> {
        self.slab.get_mut(key)
    }

    /// Disarms a timer and gives its value back; `None` once it has expired or been cancelled.
    pub(crate) fn cancel(&mut self, key: TimerKey) -> Option<T> {
        if !self.slab.holds(key) {
            return None;
        }
        self.unlink(key.index());
        self.slab.remove(key.index())
    }

    /// When to call [`Wheel::pop_expired`] next: never later than the next expiry, and exactly then
    /// when its slot holds a few timers. Not after the clock while `pop_expired` has more to do;
    /// `None` when nothing will expire.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        if self
            .moving
            .is_some_and(|slot| self.heads[usize::from(slot)] != NIL)
        {
            return Some(self.elapsed << TICK_BITS);
        }
        let first = self.first()?;
        let tick = match first.level {
            0 => first.start,
            _ => self.earliest(first.slot).unwrap_or(first.start),
        };
        // The tick after the clock's last one never comes.
        tick.checked_mul(1 << TICK_BITS)
    }

    /// Takes the next timer whose deadline is at or before `now_ns`, in the order of their ticks.
    ///
    /// `None` when there is none, or when this call has moved [`MOVES_MAX`] timers to a lower
    /// level: then [`Wheel::next_ns`] is still not after `now_ns`. However far the clock has
    /// jumped, only slots that hold timers are visited.
    pub(crate) fn pop_expired(&mut self, now_ns: u64) -> Option<T> {
        let now = (now_ns >> TICK_BITS).max(self.elapsed);
        let mut budget = MOVES_MAX;
        // Each pass looks at a lower level than the one before.
        loop {
            if let Some(slot) = self.moving {
                self.move_down(slot, &mut budget)?;
            }
            let Some(first) = self.first().filter(|first| first.start <= now) else {
                self.elapsed = now;
                return None;
            };
            self.elapsed = first.start;
            if first.level == 0 {
                let index = self.heads[usize::from(first.slot)];
                self.unlink(index);
                return self.slab.remove(index);
            }
            self.moving = Some(first.slot);
        }
    }

    /// Moves the entries of a slot, whose start is `elapsed`, to lower levels. `None` when the
    /// budget is spent before the slot is empty.
    fn move_down(&mut self, slot: u16, budget: &mut usize) -> Option<()> {
        loop {
            let index = self.heads[usize::from(slot)];
            if index == NIL {
                self.moving = None;
                return Some(());
            }
            *budget = budget.checked_sub(1)?;
            self.unlink(index);
            let tick = self.slab.entry(index).tick;
            self.link(index, tick);
        }
    }

    fn first(&self) -> Option<First> {
        if self.levels == 0 {
            return None;
        }
        let level = self.levels.trailing_zeros() as usize;
        let digit = u64::from(self.occupied[level].trailing_zeros());
        let shift = LEVEL_BITS * level as u32;
        let above = shift + LEVEL_BITS;
        let start = (self.elapsed >> above << above) | (digit << shift);
        Some(First {
            level,
            slot: (level * SLOTS) as u16 + digit as u16,
            start,
        })
    }

    /// The earliest tick in a slot, or `None` when it holds more entries than are worth looking at.
    fn earliest(&self, slot: u16) -> Option<u64> {
        let mut index = self.heads[usize::from(slot)];
        let mut earliest = u64::MAX;
        for _ in 0..SCAN_MAX {
            if index == NIL {
                return Some(earliest);
            }
            let entry = self.slab.entry(index);
            earliest = earliest.min(entry.tick);
            index = entry.next;
        }
        (index == NIL).then_some(earliest)
    }

    /// Appends the entry to its slot's list, so that timers of one tick expire in the order they
    /// came in.
    fn link(&mut self, index: u32, tick: u64) {
        let slot = slot_of(self.elapsed, tick);
        let head = self.heads[slot];
        if head == NIL {
            self.heads[slot] = index;
            self.slab.set_links(index, slot as u16, index, NIL);
            self.occupied[slot / SLOTS] |= 1 << (slot % SLOTS);
            self.levels |= 1 << (slot / SLOTS);
            return;
        }
        let tail = self.slab.entry(head).prev;
        self.slab.set_links(index, slot as u16, tail, NIL);
        self.slab.entry_mut(tail).next = index;
        self.slab.entry_mut(head).prev = index;
    }

    fn unlink(&mut self, index: u32) {
        let entry = self.slab.entry(index);
        let (slot, prev, next) = (usize::from(entry.slot), entry.prev, entry.next);
        let head = self.heads[slot];
        if head != index {
            self.slab.entry_mut(prev).next = next;
            // The last entry's successor is nobody: then the head remembers the new last one.
            let after = if next == NIL { head } else { next };
            self.slab.entry_mut(after).prev = prev;
            return;
        }
        self.heads[slot] = next;
        if next != NIL {
            self.slab.entry_mut(next).prev = prev;
            return;
        }
        let level = slot / SLOTS;
        self.occupied[level] &= !(1 << (slot % SLOTS));
        if self.occupied[level] == 0 {
            self.levels &= !(1 << level);
        }
    }
}

/// The slot of a tick that is not before `elapsed`.
fn slot_of(elapsed: u64, tick: u64) -> usize {
    let differing = (elapsed ^ tick) | (SLOTS as u64 - 1);
    let level = (u64::BITS - 1 - differing.leading_zeros()) / LEVEL_BITS;
    let digit = (tick >> (level * LEVEL_BITS)) as usize % SLOTS;
    level as usize * SLOTS + digit
}
