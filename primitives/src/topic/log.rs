//! The shared log: one order for all that is published, read in place by every subscribed shard.
//!
//! The module header of `topic` has the argument for each rule here.

use super::handle::TopicStats;
use super::part::{Part, Parts};
use super::pool::{Filled, Pool, Spare, Vacant};
use super::word::{NodeIndex, Word};
use crate::control::Control;
use crate::pad::CachePadded;
use crate::panics::Panics;
use crate::park::Bells;
use crate::sync::{AtomicU64, Ordering, Site, acquire, fence, release};
use crate::waiters::WaitList;
use std::sync::Arc;

/// Why a value was not appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// A shard's limit is reached.
    Full,
    /// The log has ended.
    Closed,
    /// Others appended first, as often as the caller was ready to try.
    Busy,
}

/// What stands at a position of the log.
pub(super) enum At {
    /// The value of this position.
    Here(NodeIndex),
    /// Nothing yet.
    Ahead,
    /// The end: nothing will come.
    End,
    /// A later one; the value of this position left the log.
    Gone,
}

pub(crate) struct Log<T> {
    /// The next position to be appended, or one before it: whoever finds it late helps it on.
    tail: CachePadded<AtomicU64>,
    /// Who waits for what is appended, here or to another log of the same source.
    pub(crate) bells: Arc<Bells>,
    /// How many parts have windows.
    pub(super) windowed: AtomicU64,
    slots: Box<[AtomicU64]>,
    /// log2 of the number of slots.
    lap_shift: u32,
    pub(super) pool: Pool<T>,
    pub(super) control: Control<Parts<T>>,
    pub(crate) room: WaitList,
}

impl<T> Log<T> {
    /// A log for parts of up to `capacity` positions, at least 1, whose feeds `bells` wakes.
    pub(crate) fn new(capacity: usize, bells: Arc<Bells>) -> Self {
        let slots = capacity.next_power_of_two();
        Self {
            tail: CachePadded::new(AtomicU64::new(0)),
            bells,
            windowed: AtomicU64::new(0),
            slots: (0..slots)
                .map(|_| AtomicU64::new(Word::EMPTY.bits()))
                .collect(),
            lap_shift: slots.ilog2(),
            pool: Pool::new(),
            control: Control::new(),
            room: WaitList::new(),
        }
    }

    /// How many positions stand in the slots at once: the newest ones.
    pub(super) fn slots(&self) -> u64 {
        self.slots.len() as u64
    }

    /// Appends `value`, and tells whether anybody got it: with no subscriber it is dropped.
    ///
    /// It rings nobody: a [`Bell`] does, after one or many. What falls out of the log is dropped
    /// here; if that panics, the value was appended.
    pub(super) fn append(
        &self,
        value: T,
        spare: &Spare,
        attempts_max: u32,
    ) -> Result<(), (T, Refusal)> {
        let mut held = Held::Value(value);
        let mut position = self.read_tail();
        for _ in 0..attempts_max {
            let word = self.word(position);
            let lap = self.lap(position);
            if !word.is_before_lap(lap) {
                position = self.help(position);
                continue;
            }
            if word.is_sealed() {
                return Err((held.into_value(&self.pool, spare), Refusal::Closed));
            }
            let turn = self.control.turns();
            // Partner TopicJoinFence: either this sees a part that has joined, or the part starts
            // at this position or after it.
            fence(Site::TopicReserveFence);
            match self.control.read(|parts| self.admit(parts, position, word)) {
                Admission::Nobody => {
                    drop(held.into_value(&self.pool, spare));
                    return Ok(());
                }
                Admission::Full => {
                    return Err((held.into_value(&self.pool, spare), Refusal::Full));
                }
                // A limit may have grown because its feed went to another part meanwhile.
                Admission::Granted if self.control.turns() != turn => continue,
                Admission::Granted => {}
            }
            let node = held.into_node(&self.pool, spare);
            // Release, partner TopicReadSlot: the value is in its node.
            let appended = self.slot(position).compare_exchange(
                word.bits(),
                Word::new(lap, node.index()).bits(),
                release(Site::TopicAppend),
                Ordering::Relaxed,
            );
            if appended.is_err() {
                // Filled by somebody else, or sealed: the next look at it tells.
                held = Held::Node(node);
                continue;
            }
            self.help(position);
            self.unlink(word, position, spare);
            return Ok(());
        }
        Err((held.into_value(&self.pool, spare), Refusal::Busy))
    }

    /// Whether every part has room for `position`, whose slot has `word`.
    fn admit(&self, parts: Option<&Parts<T>>, position: u64, word: Word) -> Admission {
        let Some(parts) = parts else {
            return Admission::Nobody;
        };
        if parts.iter().any(|part| position >= part.limit()) {
            return Admission::Full;
        }
        self.note_kept(parts, position, word);
        Admission::Granted
    }

    /// Notes with the parts that want it which node an append at `position` will put out.
    pub(super) fn note_kept(&self, parts: &Parts<T>, position: u64, word: Word) {
        if let Some(node) = word.node() {
            let old = position - self.slots();
            for part in parts.iter() {
                part.keep(old, self.lap(old), node);
            }
        }
    }

    /// Takes back the node that an append at `position` has put out of its slot.
    pub(super) fn unlink(&self, word: Word, position: u64, spare: &Spare) {
        // Partner TopicWindowFence: either a reader finds the slot changed, or its window is seen
        // below. Partner of the parked mark's fence as well.
        fence(Site::TopicAppendFence);
        let Some(index) = word.node() else { return };
        // SAFETY: The node stood in its slot, whose word this thread alone has exchanged for
        // another one; the token goes to nobody else.
        let node = unsafe { Pool::<T>::unlinked(index) };
        self.pool.note_position(&node, position - self.slots());
        if let Some((vacant, value)) = self.reclaim(node) {
            spare.keep(&self.pool, vacant);
            drop(value);
        }
    }

    /// Empties an unlinked node, or leaves it with the part whose window holds it.
    fn reclaim(&self, node: Filled) -> Option<(Vacant, T)> {
        // Acquire, partner TopicLeaveFence: what a part held that has left was copied. One that
        // comes counts itself before the fence that its first window needs.
        if self.windowed.load(acquire(Site::TopicReadWindowed)) > 0 {
            let position = self.pool.noted_position(&node);
            let holder = self.control.read(|parts| {
                let mut parts = parts?.iter();
                parts.find(|part| part.protects(position)).cloned()
            });
            if let Some(part) = holder {
                part.retired.push_filled(&self.pool, node);
                // Partner TopicLeaveFence: either the part's owner finds the node when it leaves,
                // or this sees that it has left.
                fence(Site::TopicRetireFence);
                if part.has_left() {
                    self.reclaim_retired(&part);
                }
                return None;
            }
        }
        // Nobody reads it: it lies outside every window, and every other part's limit, read
        // before the append, says that it was copied.
        Some(self.pool.empty(node))
    }

    /// Frees the retired nodes of a part whose window has moved on.
    pub(super) fn reclaim_retired(&self, part: &Part<T>) {
        let mut panics = Panics::default();
        for node in part.retired.take_filled(&self.pool) {
            if let Some((vacant, value)) = self.reclaim(node) {
                self.pool.free(vacant);
                panics.run(|| drop(value));
            }
        }
        panics.resume();
    }

    /// Ends the log behind what was appended. It needs no room: the slot of the next position
    /// keeps its node and is sealed.
    pub(crate) fn close(&self) {
        loop {
            let position = self.tail();
            let word = self.word(position);
            if !word.is_before_lap(self.lap(position)) {
                continue; // others append
            }
            // Release, since the word's node is published anew by it.
            let sealed = word.is_sealed()
                || self
                    .slot(position)
                    .compare_exchange(
                        word.bits(),
                        word.sealed().bits(),
                        release(Site::TopicAppend),
                        Ordering::Relaxed,
                    )
                    .is_ok();
            if sealed {
                break;
            }
        }
        fence(Site::TopicAppendFence);
        let mut panics = Panics::default();
        panics.run(|| self.bells.ring_after_fence());
        panics.run(|| self.room.notify_after_fence(|| self.free()));
        panics.resume();
    }

    /// A number that grows with each append, and with the end.
    pub(super) fn news(&self) -> u64 {
        let tail = self.tail();
        tail + u64::from(matches!(self.at(tail), At::End))
    }

    pub(crate) fn is_closed(&self) -> bool {
        matches!(self.at(self.tail()), At::End)
    }

    /// How many values every part has room for now; without end when there is no part, or the log
    /// has ended.
    pub(crate) fn free(&self) -> usize {
        let tail = self.tail();
        if matches!(self.at(tail), At::End) {
            return usize::MAX;
        }
        let limit = self.control.read(|parts| {
            let parts = parts.into_iter().flat_map(Parts::iter);
            parts.map(|part| part.limit()).min().unwrap_or(u64::MAX)
        });
        usize::try_from(limit.saturating_sub(tail)).unwrap_or(usize::MAX)
    }

    /// The next position to be appended, as of a moment during this call.
    pub(crate) fn tail(&self) -> u64 {
        let mut position = self.read_tail();
        while !self.word(position).is_before_lap(self.lap(position)) {
            position = self.help(position);
        }
        position
    }

    fn read_tail(&self) -> u64 {
        // Acquire, partner TopicMoveTail: all slots before it are seen filled.
        self.tail.load(acquire(Site::TopicReadTail))
    }

    /// What stands at `position`.
    #[inline]
    pub(super) fn at(&self, position: u64) -> At {
        let word = self.word(position);
        let lap = self.lap(position);
        if word.is_of_lap(lap) {
            return word.node().map_or(At::Ahead, At::Here);
        }
        if !word.is_before_lap(lap) {
            return At::Gone;
        }
        if word.is_of_lap(lap.wrapping_sub(1)) && word.is_sealed() {
            return At::End;
        }
        At::Ahead
    }

    /// Moves the tail past `position`, whose slot is filled, and returns where it is then. Anybody
    /// does it for anybody.
    pub(super) fn help(&self, position: u64) -> u64 {
        // Release, partner TopicReadTail: the slot's word was seen, or was ours.
        let moved = self.tail.compare_exchange(
            position,
            position + 1,
            release(Site::TopicMoveTail),
            acquire(Site::TopicReadTail),
        );
        match moved {
            Ok(_) => position + 1,
            Err(found) => found,
        }
    }

    /// The lap in which `position` is written to its slot; from 1.
    pub(super) fn lap(&self, position: u64) -> u64 {
        (position >> self.lap_shift) + 1
    }

    pub(super) fn slot(&self, position: u64) -> &AtomicU64 {
        &self.slots[(position & (self.slots() - 1)) as usize]
    }

    #[inline]
    pub(super) fn word(&self, position: u64) -> Word {
        // Acquire, partner TopicAppend: the node's value is there.
        Word::from_bits(self.slot(position).load(acquire(Site::TopicReadSlot)))
    }
}

impl<T> Log<T> {
    /// Takes back what a publisher kept.
    pub(crate) fn end_publisher(&self, spare: &Spare) {
        spare.end(&self.pool);
    }

    /// What it has counted; its bells count for themselves.
    pub(crate) fn stats(&self) -> TopicStats {
        TopicStats {
            published: self.tail(),
            control_turns: self.control.turns(),
            nodes: self.pool.made(),
            ..TopicStats::default()
        }
    }
}

impl<T> Drop for Log<T> {
    fn drop(&mut self) {
        /// Goes on when a value's drop panics.
        struct Rest<'a, T>(&'a mut Log<T>, u64);
        impl<T> Rest<'_, T> {
            fn empty(&mut self) {
                while self.1 < self.0.slots() {
                    let word = self.0.word(self.1);
                    self.1 += 1;
                    if let Some(index) = word.node() {
                        // SAFETY: The node stands in its slot, is looked at once, and `&mut` says
                        // that nobody else has the log.
                        let node = unsafe { Pool::<T>::unlinked(index) };
                        drop(self.0.pool.empty(node));
                    }
                }
            }
        }
        impl<T> Drop for Rest<'_, T> {
            fn drop(&mut self) {
                self.empty();
            }
        }
        Rest(self, 0).empty();
    }
}

/// Wakes every shard whose feeds sleep when it is dropped, also by a panic: whoever appends holds
/// one, and each append has fenced. Who is refused rings too: whoever took the room may stand still
/// before its own bell.
pub(crate) struct Bell<'a, T>(pub(crate) &'a Log<T>);

impl<T> Drop for Bell<'_, T> {
    fn drop(&mut self) {
        self.0.bells.ring_after_fence();
    }
}

/// What the parts say about a position.
enum Admission {
    Nobody,
    Full,
    Granted,
}

/// A value on its way into the log.
enum Held<T> {
    Value(T),
    Node(Filled),
}

impl<T> Held<T> {
    fn into_node(self, pool: &Pool<T>, spare: &Spare) -> Filled {
        match self {
            Self::Value(value) => pool.fill(spare.take(pool), value),
            Self::Node(node) => node,
        }
    }

    fn into_value(self, pool: &Pool<T>, spare: &Spare) -> T {
        match self {
            Self::Value(value) => value,
            Self::Node(node) => {
                let (vacant, value) = pool.empty(node);
                spare.keep(pool, vacant);
                value
            }
        }
    }
}

impl<T> Parts<T> {
    pub(super) fn iter(&self) -> std::slice::Iter<'_, Arc<Part<T>>> {
        self.0.iter()
    }
}
