//! One ring as its producers and its consumer share it: the cursors and the claim.

use super::desk::Desk;
use super::slots::{FLAGS, Look, STEP, Slots, distance};
use crate::claim::FirstSight;
use crate::pad::CachePadded;
use crate::push_wait::Room;
use crate::sync::{Arc, AtomicU64, Ordering, Site, acquire, pause, release};
use crate::timers::Clock;
use crate::waiters::WaitList;
use crate::{PushError, RingError};

/// No claim succeeds any more.
pub(super) const CLOSED: u64 = 1;
/// No claim succeeds since the handler of the channel has panicked. CLOSED is set with it.
const FAILED: u64 = 4;
/// Whoever publishes looks afterwards whether the consumer sleeps.
pub(super) const TELL: u64 = 2;

/// How many pauses a producer makes after it has lost a claim, as a power of two: at first as long
/// as some tens of pushes of the winner, and in the end some hundreds (bench rows `flood_N`).
const PAUSES_MIN_LOG2: u32 = 4;
const PAUSES_MAX_LOG2: u32 = 8;

/// What the producers write: one line.
struct Front {
    /// The next place to be claimed, with CLOSED and TELL: who claims reads both with no access
    /// of its own.
    word: AtomicU64,
    /// A head that some producer has seen; the true one is never behind it.
    head_seen: AtomicU64,
}

/// What the consumer writes: one line.
struct Back {
    /// The first place that is not yet handed back.
    head: AtomicU64,
    skipped: AtomicU64,
    peak: AtomicU64,
}

pub(super) struct Shared {
    front: CachePadded<Front>,
    back: CachePadded<Back>,
    refused: CachePadded<AtomicU64>,
    stepped_over: AtomicU64,
    /// Pushes that wait for room.
    waiters: CachePadded<WaitList>,
    sight: FirstSight,
    /// The place of the first position.
    start: u64,
    slots: Slots,
    desk: Arc<Desk>,
    /// Producers that stick to this ring, of a sharded one.
    owners: AtomicU64,
}

/// Consecutive positions of one producer.
#[derive(Clone, Copy)]
pub(super) struct Claimed {
    pub(super) first: u64,
    pub(super) count: usize,
    /// Whether the consumer may sleep, so that who publishes wakes it.
    pub(super) tell: bool,
}

impl Shared {
    /// A ring whose first position is `sequence` (modulo 2^61).
    pub(super) fn new(capacity: usize, sequence: u64, desk: Arc<Desk>) -> Result<Self, RingError> {
        let slots = Slots::new(capacity)?;
        let start = sequence.wrapping_mul(STEP);
        Ok(Self {
            front: CachePadded::new(Front {
                // With TELL from the start, so that the consumer can sleep without a word.
                word: AtomicU64::new(start | TELL),
                head_seen: AtomicU64::new(start),
            }),
            back: CachePadded::new(Back {
                head: AtomicU64::new(start),
                skipped: AtomicU64::new(0),
                peak: AtomicU64::new(0),
            }),
            refused: CachePadded::new(AtomicU64::new(0)),
            stepped_over: AtomicU64::new(0),
            waiters: CachePadded::new(WaitList::new()),
            // No place has flags, so this is none.
            sight: FirstSight::new(FLAGS),
            start,
            slots,
            desk,
            owners: AtomicU64::new(0),
        })
    }

    #[inline(always)]
    pub(super) fn slots(&self) -> &Slots {
        &self.slots
    }

    #[inline(always)]
    pub(super) fn desk(&self) -> &Desk {
        &self.desk
    }

    pub(super) fn start(&self) -> u64 {
        self.start
    }

    /// Pushes one value: one compare-exchange and the stores that fill the slot.
    #[inline]
    pub(super) fn push(&self, value: u64) -> Result<(), PushError<u64>> {
        match self.claim(1, 1) {
            Ok(claimed) => {
                self.slots.publish(claimed.first, value);
                if claimed.tell {
                    self.desk.wake();
                }
                Ok(())
            }
            Err(refusal) => Err(refusal.map(|()| value)),
        }
    }

    /// [`push`](Self::push), with what becomes of a refusal.
    #[inline]
    pub(super) fn push_or_count(&self, value: u64) -> Result<(), PushError<u64>> {
        self.push(value)
            .inspect_err(|refusal| self.refuse(refusal.is_full(), 1))
    }

    /// Pushes as many of `values`, from the first on, as there is room for: one compare-exchange
    /// for all of them.
    pub(super) fn push_batch(&self, values: &[u64]) -> Result<usize, PushError> {
        if values.is_empty() {
            return Ok(0);
        }
        let claimed = match self.claim(values.len(), 1) {
            Ok(claimed) => claimed,
            Err(refusal) => {
                self.refuse(refusal.is_full(), values.len());
                return Err(refusal);
            }
        };
        let mut place = claimed.first;
        for value in &values[..claimed.count] {
            self.slots.publish(place, *value);
            place = place.wrapping_add(STEP);
        }
        if claimed.tell {
            self.desk.wake();
        }
        if claimed.count < values.len() {
            self.count_refused(values.len() - claimed.count);
        }
        Ok(claimed.count)
    }

    /// Claims up to `wanted` positions, and none unless there are `least`; `least` is at least one.
    ///
    /// Lock-free: a turn is repeated only when another producer has claimed meanwhile.
    #[inline]
    pub(super) fn claim(&self, wanted: usize, least: usize) -> Result<Claimed, PushError> {
        let mut pauses_log2 = PAUSES_MIN_LOG2;
        loop {
            let word = self.front.word.load(Ordering::Relaxed);
            if word & CLOSED != 0 {
                return Err(refusal(word));
            }
            let tail = word & !FLAGS;
            if let Some(room) = self.room(tail, wanted) {
                if room < least {
                    return Err(PushError::Full(()));
                }
                let count = room.min(wanted);
                if self.win(word, tail, count) {
                    return Ok(Claimed {
                        first: tail,
                        count,
                        tell: word & TELL != 0,
                    });
                }
            }
            pauses_log2 = lose(pauses_log2);
        }
    }

    /// Moves the front on from `word`, if it still is that, by `count` positions.
    #[inline(always)]
    fn win(&self, word: u64, tail: u64, count: usize) -> bool {
        // This look fetches the slot's line *before* the cursor's changes hands. Whoever has
        // pushed last has that line already, so it wins again: producers that meet take runs of
        // slots by turns, instead of one slot each (bench rows `flood_N`).
        if self.slots.is_taken(tail) {
            return false;
        }
        let next = word.wrapping_add(count as u64 * STEP);
        // Relaxed: the claim publishes nothing. What frees the slots is `room`'s Acquire.
        self.front
            .word
            .compare_exchange(word, next, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// The free slots for who claims from `tail` on; looks at the consumer's line only if fewer
    /// than `wanted` are known. `None` when `tail` is no longer the tail.
    #[inline]
    fn room(&self, tail: u64, wanted: usize) -> Option<usize> {
        let capacity = self.slots.capacity() as u64;
        // Acquire, partner Ring64StoreSeen: as if this thread had read the head itself.
        let seen = self.front.head_seen.load(acquire(Site::Ring64ReadSeen));
        let used = distance(seen, tail);
        if used <= capacity && capacity - used >= wanted as u64 {
            return Some((capacity - used) as usize);
        }
        // Acquire, partner Ring64Release: the values before the head are out.
        let head = self.back.head.load(acquire(Site::Ring64ReadHead));
        // A slower thread may store an older head after this: it costs the next one a look.
        self.front
            .head_seen
            .store(head, release(Site::Ring64StoreSeen));
        let used = distance(head, tail);
        (used <= capacity).then(|| (capacity - used) as usize)
    }

    /// Counts what a full ring refuses, and steps over the claim that it may be full behind.
    #[cold]
    pub(super) fn refuse(&self, is_full: bool, values: usize) {
        if is_full {
            self.count_refused(values);
            self.full_behind_claim();
        }
    }

    #[cold]
    pub(super) fn count_refused(&self, values: usize) {
        self.refused.fetch_add(values as u64, Ordering::Relaxed);
    }

    #[cold]
    fn full_behind_claim(&self) {
        let head = self.back.head.load(Ordering::Relaxed);
        if self.slots.look(head) == Look::Reserved && self.step_over(head).is_ok() {
            // It sleeps behind this claim, with a whole ring to take. Room comes only from it.
            self.desk.wake();
        }
    }

    /// Steps over the reserved `place` if that is old enough, or tells when it will be, on the
    /// ring's clock.
    #[cold]
    pub(super) fn step_over(&self, place: u64) -> Result<(), u64> {
        let skip_after_ns = self.desk.skip_after_ns;
        if self.desk.is_abandoned() {
            self.step_over_now(place);
            return Ok(());
        }
        if skip_after_ns == u64::MAX {
            return Err(u64::MAX);
        }
        let now_ns = self.desk.clock.now_ns();
        let due_ns = self
            .sight
            .since(place, now_ns)
            .saturating_add(skip_after_ns);
        if now_ns < due_ns {
            return Err(due_ns);
        }
        self.step_over_now(place);
        Ok(())
    }

    fn step_over_now(&self, place: u64) {
        if self.slots.skip(place) {
            self.stepped_over.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many producers stick to this ring.
    pub(super) fn owners(&self) -> u64 {
        self.owners.load(Ordering::Relaxed)
    }

    /// One more of them, if there are still `owners`.
    pub(super) fn own(&self, owners: u64) -> bool {
        // Relaxed: the number spreads producers evenly, and orders nothing.
        self.owners
            .compare_exchange(owners, owners + 1, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// One less of them.
    pub(super) fn disown(&self) {
        self.owners.fetch_sub(1, Ordering::Relaxed);
    }

    /// Ends all claims and waits by an error of its own.
    pub(super) fn fail(&self) {
        // Relaxed: as in `close`.
        self.front.word.fetch_or(CLOSED | FAILED, Ordering::Relaxed);
        self.notify_producers();
    }

    /// Ends all claims, and the waits of all pushes. Who closes wakes the consumer.
    pub(super) fn close(&self) {
        // Relaxed: a claim that comes later in this word's order fails.
        self.front.word.fetch_or(CLOSED, Ordering::Relaxed);
        self.notify_producers();
    }

    /// Grants the room to pushes that wait for it. After it was made.
    #[inline]
    pub(super) fn notify_producers(&self) {
        self.waiters.notify(|| self.free_slots());
    }

    /// The front's word now: a hint.
    pub(super) fn front(&self) -> u64 {
        self.front.word.load(Ordering::Relaxed)
    }

    /// Asks publishers to look whether the consumer sleeps; returns the front as it was then.
    pub(super) fn ask_to_tell(&self) -> u64 {
        // Relaxed: claims stand before or behind this in the word's own order.
        self.front.word.fetch_or(TELL, Ordering::Relaxed)
    }

    /// Lets publishers go without that look. The consumer is awake.
    pub(super) fn need_not_tell(&self) {
        self.front.word.fetch_and(!TELL, Ordering::Relaxed);
    }

    /// Hands back every slot before `head`. The consumer's.
    #[inline(always)]
    pub(super) fn release(&self, head: u64) {
        // Release, partner Ring64ReadHead: the values are out before a producer may write there.
        self.back.head.store(head, release(Site::Ring64Release));
    }

    /// The consumer's: counts positions that had no value.
    pub(super) fn count_skipped(&self, positions: u64) {
        let skipped = self.back.skipped.load(Ordering::Relaxed);
        self.back
            .skipped
            .store(skipped + positions, Ordering::Relaxed);
    }

    /// The consumer's, before it hands back `passed` positions from `released` on: keeps the
    /// highest occupancy. Nothing was handed back until now, so this moment is the fullest since
    /// the last one.
    ///
    /// Behind the last published position nothing is known of but claims, so `more` tells whether
    /// another one may stand there. Then this is one load: that of the slot which the next higher
    /// peak would fill.
    #[inline]
    pub(super) fn note_peak(&self, released: u64, passed: u64, more: bool) {
        let mut peak = self.back.peak.load(Ordering::Relaxed);
        let met = if !more {
            passed
        } else if peak < self.slots.capacity() as u64
            && self.slots.is_taken(released.wrapping_add(peak * STEP))
        {
            peak += 1; // also if the front is seen late
            distance(released, self.front())
        } else {
            return;
        };
        if met > peak {
            peak = met;
        }
        self.back.peak.store(peak, Ordering::Relaxed);
    }

    pub(super) fn capacity(&self) -> usize {
        self.slots.capacity()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.front() & CLOSED != 0
    }

    pub(super) fn is_failed(&self) -> bool {
        self.front() & FAILED != 0
    }

    pub(super) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    pub(super) fn skipped(&self) -> u64 {
        self.back.skipped.load(Ordering::Relaxed)
    }

    pub(super) fn stepped_over(&self) -> u64 {
        self.stepped_over.load(Ordering::Relaxed)
    }

    pub(super) fn pushed(&self) -> u64 {
        distance(self.start, self.front())
    }

    pub(super) fn popped(&self) -> u64 {
        // The head first: it is stored before the count of what it passed.
        let passed = distance(self.start, self.back.head.load(Ordering::Relaxed));
        passed.saturating_sub(self.skipped())
    }

    pub(super) fn occupancy(&self) -> usize {
        // The tail first: the head can only have come nearer since, so this is never too much.
        let tail = self.front();
        let used = distance(self.back.head.load(Ordering::Relaxed), tail);
        if used > self.slots.capacity() as u64 {
            return 0; // the head has passed that tail
        }
        used as usize
    }

    pub(super) fn peak(&self) -> usize {
        let peak = self.back.peak.load(Ordering::Relaxed) as usize;
        peak.max(self.occupancy())
    }
}

impl Room for Shared {
    type Value = u64;

    fn try_push(&self, value: u64) -> Result<(), PushError<u64>> {
        self.push(value).inspect_err(|refusal| {
            if refusal.is_full() {
                self.full_behind_claim();
            }
        })
    }

    fn waiters(&self) -> &WaitList {
        &self.waiters
    }

    fn free_slots(&self) -> usize {
        let word = self.front();
        if word & CLOSED != 0 {
            return usize::MAX;
        }
        // Acquire, partner Ring64Release: a push that relies on this finds the slots free.
        let head = self.back.head.load(acquire(Site::Ring64ReadHead));
        let used = distance(head, word);
        // The head may have passed that tail: the ring was empty then.
        match usize::try_from(used) {
            Ok(used) if used <= self.slots.capacity() => self.slots.capacity() - used,
            _ => self.slots.capacity(),
        }
    }

    fn clock(&self) -> &Clock {
        &self.desk.clock
    }

    fn count_refused(&self) {
        Shared::count_refused(self, 1);
    }
}

/// Why a closed ring takes nothing.
#[cold]
fn refusal(word: u64) -> PushError {
    if word & FAILED != 0 {
        PushError::Failed(())
    } else {
        PushError::Closed(())
    }
}

/// Lets the winner of a claim go on for a while, each time twice as long up to a limit.
#[cold]
fn lose(pauses_log2: u32) -> u32 {
    pause(1 << pauses_log2);
    (pauses_log2 + 1).min(PAUSES_MAX_LOG2)
}
