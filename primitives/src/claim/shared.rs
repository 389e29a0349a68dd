//! One ring as its producers and its consumer share it: the cursors, the claim and the counts.

use super::sight::FirstSight;
use super::slots::{FLAGS, Room, STEP, Slots, distance};
use crate::drain::DrainTime;
use crate::pad::CachePadded;
use crate::panics::Panics;
use crate::park::Parker;
use crate::sync::{AtomicU64, Ordering, Site, fence};
use crate::timers::Clock;
use crate::waiters::WaitList;
use crate::{PushError, RingError};

/// No claim succeeds any more.
const CLOSED: u64 = 1;

/// How many pauses a producer makes at most between two tries, as a power of two.
const PAUSES_MAX_LOG2: u32 = 6;

/// What the consumer writes: one line.
struct Back {
    /// The first place that is not yet handed back.
    head: AtomicU64,
    /// Places passed without a value.
    skipped: AtomicU64,
    peak: AtomicU64,
}

/// What is written seldom, by anybody.
struct Counts {
    /// Handles that can push.
    producers: AtomicU64,
    refused: AtomicU64,
    tombstones: AtomicU64,
    stepped_over: AtomicU64,
    reclaimed: AtomicU64,
}

/// How long a place may be claimed and not begun to be written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Claims {
    /// As long as who has it likes, or others have patience.
    Held { skip_after_ns: u64 },
    /// Who claims it fills it at once. Nobody steps over it, so it needs no compare-exchange to be
    /// begun (bench rows `mpsc_N`).
    Filled,
}

pub(super) struct Shared<T> {
    /// The next place to be claimed, with CLOSED: who claims reads both with one access.
    tail: CachePadded<AtomicU64>,
    back: CachePadded<Back>,
    /// Where the consumer sleeps.
    pub(super) consumer: CachePadded<Parker>,
    /// Where pushes wait for room.
    pub(super) waiters: CachePadded<WaitList>,
    counts: CachePadded<Counts>,
    sight: FirstSight,
    pub(super) slots: Slots<T>,
    pub(super) drain: DrainTime,
    pub(super) clock: Clock,
    claims: Claims,
    /// The place of the first position.
    start: u64,
}

impl<T> Shared<T> {
    /// A ring with one producer, whose first position is `sequence`, modulo 2^62.
    pub(super) fn new(
        capacity: usize,
        sequence: u64,
        clock: Clock,
        claims: Claims,
    ) -> Result<Self, RingError> {
        let start = sequence.wrapping_mul(STEP);
        Ok(Self {
            tail: CachePadded::new(AtomicU64::new(start)),
            back: CachePadded::new(Back {
                head: AtomicU64::new(start),
                skipped: AtomicU64::new(0),
                peak: AtomicU64::new(0),
            }),
            consumer: CachePadded::new(Parker::new()),
            waiters: CachePadded::new(WaitList::new()),
            counts: CachePadded::new(Counts {
                producers: AtomicU64::new(1),
                refused: AtomicU64::new(0),
                tombstones: AtomicU64::new(0),
                stepped_over: AtomicU64::new(0),
                reclaimed: AtomicU64::new(0),
            }),
            // No place has flags, so this is none.
            sight: FirstSight::new(FLAGS),
            slots: Slots::new(capacity, start)?,
            drain: DrainTime::new(),
            clock,
            claims,
            start,
        })
    }

    /// Claims the next place, or tells why not. Counts no refusal.
    ///
    /// Lock-free: a turn is repeated only when another producer has claimed meanwhile.
    #[inline]
    pub(super) fn claim(&self) -> Result<u64, PushError> {
        let mut pauses_log2 = 0;
        loop {
            let word = self.tail.load(Ordering::Relaxed);
            if word & CLOSED != 0 {
                return Err(PushError::Closed(()));
            }
            match self.slots.room(word) {
                Room::Free => {
                    // Relaxed: the claim publishes nothing, and `room` has acquired the slot.
                    let won = self.tail.compare_exchange(
                        word,
                        word.wrapping_add(STEP),
                        Ordering::Relaxed,
                        Ordering::Relaxed,
                    );
                    if won.is_ok() {
                        return Ok(word);
                    }
                    pauses_log2 = pause(pauses_log2);
                }
                Room::Passed => {}
                Room::Full => return Err(PushError::Full(())),
                Room::FullBehindClaim => {
                    self.full_behind_claim(word);
                    return Err(PushError::Full(()));
                }
            }
        }
    }

    /// Pushes `value`, or hands it back. Counts no refusal.
    #[inline]
    pub(super) fn push(&self, value: T) -> Result<(), PushError<T>> {
        loop {
            let place = match self.claim() {
                Ok(place) => place,
                Err(refusal) => return Err(refusal.map(|()| value)),
            };
            if self.fills_all() || self.slots.begin(place) {
                // SAFETY: Valid: the place has just been begun, or nobody but who has claimed it
                // ever changes its slot. Exclusive: by this call, which fills it once.
                unsafe { self.slots.fill(place, value) };
                self.wake_consumer();
                return Ok(());
            }
            // The thread stood still between the claim and here for longer than `skip_after`.
            self.counts.reclaimed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Wakes the consumer if it sleeps, after the news of this thread.
    #[inline(always)]
    fn wake_consumer(&self) {
        fence(Site::ParkWakeFence);
        // One load here, and the rest out of line: most pushes meet a consumer that is awake.
        if self.consumer.looks_parked() {
            self.consumer.wake_after_fence();
        }
    }

    /// Publishes `value` at a claimed place, unless that was stepped over.
    pub(super) fn publish(&self, place: u64, value: T) -> Result<(), T> {
        if !self.slots.begin(place) {
            return Err(value);
        }
        // SAFETY: as in `push`; who holds a claim publishes it once.
        unsafe { self.slots.fill(place, value) };
        self.consumer.wake();
        Ok(())
    }

    /// Gives a claimed place up.
    pub(super) fn give_up(&self, place: u64) {
        if self.slots.skip(place) {
            self.counts.tombstones.fetch_add(1, Ordering::Relaxed);
            self.consumer.wake();
        }
    }

    /// What a producer does that finds the slot of `tail` claimed, a lap before, and not written.
    #[cold]
    fn full_behind_claim(&self, tail: u64) {
        let oldest = tail.wrapping_sub(self.slots.capacity() as u64 * STEP);
        if self.step_over(oldest).is_ok() {
            // It sleeps behind this claim, with a whole ring to take. Room comes only from it.
            self.consumer.wake();
        }
    }

    /// Steps over the claim of `place`, the oldest one, if it has held somebody up for long
    /// enough; otherwise tells when that will be. It may have been written meanwhile, too.
    #[cold]
    pub(super) fn step_over(&self, place: u64) -> Result<(), u64> {
        let skip_after_ns = match self.claims {
            Claims::Held { skip_after_ns } if skip_after_ns < u64::MAX => skip_after_ns,
            _ => return Err(u64::MAX),
        };
        let now_ns = self.clock.now_ns();
        let since_ns = self.sight.since(place, now_ns);
        let due_ns = since_ns.saturating_add(skip_after_ns);
        if now_ns < due_ns {
            return Err(due_ns);
        }
        self.step_over_now(place);
        Ok(())
    }

    /// Steps over the claim of `place`, however old it is, unless it has begun to be written.
    pub(super) fn step_over_now(&self, place: u64) {
        if self.slots.skip(place) {
            self.counts.stepped_over.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether who has claimed a place is sure to fill it, and is waited for.
    pub(super) fn fills_all(&self) -> bool {
        self.claims == Claims::Filled
    }

    /// Ends all claims; whoever waits finds out.
    pub(super) fn close(&self) {
        // Relaxed: a claim that comes later in this word's order fails.
        self.tail.fetch_or(CLOSED, Ordering::Relaxed);
        let mut panics = Panics::default();
        panics.run(|| self.consumer.wake());
        panics.run(|| self.notify_producers());
        panics.resume();
    }

    /// Tells those who wait for room how much there is, and returns how many were woken.
    #[inline]
    pub(super) fn notify_producers(&self) -> usize {
        self.waiters.notify(|| self.free_slots())
    }

    /// How many pushes have room now; as many as one likes when each finds the ring closed.
    pub(super) fn free_slots(&self) -> usize {
        let tail = self.tail.load(Ordering::Relaxed);
        if tail & CLOSED != 0 {
            return usize::MAX;
        }
        // Relaxed: a push that relies on this still looks at its slot, and tries again if this was
        // quicker than that. Whether it is looked at at all is a matter of fences and the lock.
        let head = self.back.head.load(Ordering::Relaxed);
        self.room_between(head, tail)
    }

    pub(super) fn add_producer(&self) {
        // Relaxed: it is counted through a handle that is counted already.
        self.counts.producers.fetch_add(1, Ordering::Relaxed);
    }

    /// A producer goes; the last one closes the ring.
    pub(super) fn remove_producer(&self) {
        // Relaxed: only the number counts. Closing stands behind every claim in the tail's order.
        if self.counts.producers.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.close();
        }
    }

    /// Whether all producers are gone, so that a claim that is not begun never will be.
    pub(super) fn is_abandoned(&self) -> bool {
        if self.fills_all() {
            return false; // each that was made is filled, and nobody may come between
        }
        // Relaxed: who steps over because of this still races for the slot's word.
        self.counts.producers.load(Ordering::Relaxed) == 0
    }

    #[cold]
    pub(super) fn count_refused(&self) {
        self.counts.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// The consumer's: hands back every slot before `head`, which `skipped` of them had no value.
    #[inline]
    pub(super) fn release(&self, head: u64, skipped: u64) {
        if skipped > 0 {
            let before = self.back.skipped.load(Ordering::Relaxed);
            self.back.skipped.store(before + skipped, Ordering::Relaxed);
        }
        // Relaxed: it is a count; each slot's word says by itself that it is free.
        self.back.head.store(head, Ordering::Relaxed);
    }

    /// The consumer's: looks whether the ring is fuller than ever, before it takes from `head`.
    ///
    /// Between two of its takes a ring only fills, so a look before each sees every peak. The look
    /// is one load: that of the slot which the next higher peak would fill.
    #[inline]
    pub(super) fn note_peak(&self, head: u64) {
        let peak = self.back.peak.load(Ordering::Relaxed);
        if peak < self.slots.capacity() as u64
            && self.slots.is_begun(head.wrapping_add(peak * STEP))
        {
            let used = distance(head, self.tail());
            self.back.peak.store(used.max(peak + 1), Ordering::Relaxed);
        }
    }

    /// The tail now: a hint.
    pub(super) fn tail(&self) -> u64 {
        self.tail.load(Ordering::Relaxed) & !FLAGS
    }

    /// Whether somebody has claimed `head`, the consumer's place, as far as this thread can see: a
    /// tail that is behind the head was read too early.
    pub(super) fn is_claimed(&self, head: u64) -> bool {
        let claimed = distance(head, self.tail());
        claimed != 0 && claimed <= self.slots.capacity() as u64
    }

    /// Whether the ring is closed and nothing was claimed at or behind `head`.
    pub(super) fn is_over_at(&self, head: u64) -> bool {
        self.tail.load(Ordering::Relaxed) == head | CLOSED
    }

    pub(super) fn is_closed(&self) -> bool {
        self.tail.load(Ordering::Relaxed) & CLOSED != 0
    }

    pub(super) fn occupancy(&self) -> usize {
        // The tail first: the head can only have come nearer since.
        let tail = self.tail();
        let head = self.back.head.load(Ordering::Relaxed);
        self.slots.capacity() - self.room_between(head, tail)
    }

    /// How much room a head and a tail make that were read one after the other. The head is told
    /// once a batch, while its slots are free one by one, so the tail may be more than a ring
    /// ahead; and a tail that the head has passed was read too early: the ring was empty since.
    fn room_between(&self, head: u64, tail: u64) -> usize {
        let capacity = self.slots.capacity();
        if distance(tail, head) <= capacity as u64 {
            return capacity;
        }
        capacity.saturating_sub(distance(head, tail) as usize)
    }

    pub(super) fn peak(&self) -> usize {
        let peak = self.back.peak.load(Ordering::Relaxed) as usize;
        peak.max(self.occupancy())
    }

    pub(super) fn pushed(&self) -> u64 {
        distance(self.start, self.tail())
    }

    pub(super) fn popped(&self) -> u64 {
        // The head first: it is stored after the count of what it passed.
        let passed = distance(self.start, self.back.head.load(Ordering::Relaxed));
        passed.saturating_sub(self.skipped())
    }

    pub(super) fn skipped(&self) -> u64 {
        self.back.skipped.load(Ordering::Relaxed)
    }

    pub(super) fn refused(&self) -> u64 {
        self.counts.refused.load(Ordering::Relaxed)
    }

    pub(super) fn tombstones(&self) -> u64 {
        self.counts.tombstones.load(Ordering::Relaxed)
    }

    pub(super) fn stepped_over(&self) -> u64 {
        self.counts.stepped_over.load(Ordering::Relaxed)
    }

    pub(super) fn reclaimed(&self) -> u64 {
        self.counts.reclaimed.load(Ordering::Relaxed)
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        let mut panics = Panics::default();
        for index in 0..self.slots.capacity() {
            let rest = self.slots.take_rest(index);
            panics.run(|| drop(rest));
        }
        panics.resume();
    }
}

/// Lets the winner of a claim go on for a while, each time twice as long up to a limit.
#[cold]
fn pause(pauses_log2: u32) -> u32 {
    for _ in 0..1_u32 << pauses_log2 {
        std::hint::spin_loop();
    }
    (pauses_log2 + 1).min(PAUSES_MAX_LOG2)
}
