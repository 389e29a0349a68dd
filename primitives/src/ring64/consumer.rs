//! The reading end of a `Ring64` or of all shards of a `Shards64`.

use super::desk::Desk;
use super::reader::Reader;
use super::shared::Shared;
use crate::Folded;
use crate::panics::Panics;
use crate::park::Looks;
use crate::sync::Arc;
use crate::timers::Alarm;
use std::time::Duration;

/// Values that one batch takes at most before their slots are handed back.
const BATCH_MAX: usize = 256;

/// The reading end of a [`Ring64`](crate::Ring64) or a [`Shards64`](crate::Shards64).
///
/// There is one, and it cannot be cloned. It may be moved to any thread and dropped there. Dropping
/// it closes the ring: later pushes are refused, and what was inside is dropped.
///
/// Over several shards each call starts at the shard behind the one where the last call did, and
/// walks only those that have had a producer.
///
/// ```
/// let (ring, mut consumer) = corelane_primitives::Ring64::new(1024);
/// assert_eq!(ring.push(42), Ok(()));
/// assert_eq!(consumer.pop(), Some(42));
/// assert_eq!(consumer.pop(), None);
/// ```
pub struct Consumer64 {
    pub(super) desk: Arc<Desk>,
    pub(super) readers: Box<[Reader]>,
    /// The shard where the next call starts.
    turn: usize,
    pub(super) parked: bool,
    /// Ends a sleep behind a reserved place; with the time that it was made for.
    pub(super) alarm: Option<(u64, Alarm)>,
    /// Looks in a row for a producer that will not wake this end.
    pub(super) silent_looks: u32,
    pub(super) looks: Looks,
}

impl Consumer64 {
    pub(super) fn new(desk: Arc<Desk>, shards: impl Iterator<Item = Arc<Shared>>) -> Self {
        Self {
            desk,
            readers: shards.map(Reader::new).collect(),
            turn: 0,
            parked: false,
            alarm: None,
            silent_looks: 0,
            looks: Looks::default(),
        }
    }

    /// Takes the oldest value of a ring, or of the next shard that has one.
    ///
    /// Hands the slot back at once. Many values are cheaper by [`fold`](Self::fold) or
    /// [`pop_batch`](Self::pop_batch), which hand back up to 256 slots as one. `None` does not tell
    /// whether more can come: ask [`is_finished`](Self::is_finished).
    ///
    /// # Panics
    ///
    /// If a producer's waker does. The value is dropped then.
    #[inline]
    pub fn pop(&mut self) -> Option<u64> {
        for _ in 0..self.walked() {
            let turn = self.step();
            let reader = &mut self.readers[turn];
            let value = reader.next();
            reader.release(value.is_some());
            if value.is_some() {
                return value;
            }
            reader.idle();
        }
        None
    }

    /// Moves up to `max` values to the end of `out` and returns how many. `out` may grow.
    ///
    /// # Panics
    ///
    /// If a producer's waker does. What was taken is in `out`.
    pub fn pop_batch(&mut self, out: &mut Vec<u64>, max: usize) -> usize {
        self.fold(max, (), |(), value| out.push(value)).consumed
    }

    /// Gives up to `max` values one by one to `f`, each with what `f` returned for the one before,
    /// `acc` for the first. Allocates nothing.
    ///
    /// Takes what is there and does not wait. Slots are handed back by one store for each 256
    /// values. Of several shards the first one may give all `max`; the next call starts at another.
    /// The value at which `f` panics counts as taken.
    ///
    /// ```
    /// let (ring, mut consumer) = corelane_primitives::Ring64::new(8);
    /// assert_eq!(ring.push_batch(&[1, 2, 3]), Ok(3));
    /// let folded = consumer.fold(2, 10, |sum, value| sum + value);
    /// assert_eq!((folded.acc, folded.consumed, folded.skipped), (13, 2, 0));
    /// ```
    ///
    /// # Panics
    ///
    /// If `f` or a producer's waker does.
    pub fn fold<A>(&mut self, max: usize, acc: A, mut f: impl FnMut(A, u64) -> A) -> Folded<A> {
        let mut folded = Folded {
            acc,
            consumed: 0,
            skipped: 0,
        };
        let mut turn = self.step();
        for _ in 0..self.walked() {
            folded = fold_one(&mut self.readers[turn], max, folded, &mut f);
            turn = self.behind(turn);
        }
        folded
    }

    /// Whether the ring is closed and everything that was pushed is taken.
    pub fn is_finished(&self) -> bool {
        self.readers.iter().all(Reader::is_finished)
    }

    /// Refuses all later pushes. What is inside can still be taken.
    pub fn close(&mut self) {
        let mut panics = Panics::default();
        for reader in &self.readers {
            panics.run(|| reader.shared.close());
        }
        panics.resume();
    }

    /// Refuses all later pushes since the handler has panicked.
    pub(super) fn fail(&mut self) {
        let mut panics = Panics::default();
        for reader in &self.readers {
            panics.run(|| reader.shared.fail());
        }
        panics.resume();
    }

    /// Whether a claim stands first in some shard that is not published, so that what was pushed
    /// behind it waits.
    pub fn is_held_up(&self) -> bool {
        self.readers.iter().any(Reader::is_held_up)
    }

    /// How many nanoseconds a value takes on the average while there are values: a moving mean, on
    /// the ring's clock. `None` until it was measured, as [`Ring::drain_ns`](crate::Ring::drain_ns)
    /// tells.
    pub fn drain_ns(&self) -> Option<f64> {
        self.desk.drain.drain_ns()
    }

    /// How old the oldest value can get before it is taken, at the measured pace: all slots times
    /// [`drain_ns`](Self::drain_ns).
    pub fn age_bound(&self) -> Option<Duration> {
        let slots = self.readers.iter().map(|reader| reader.shared.capacity());
        self.desk.drain.bound(slots.sum())
    }

    /// How many shards can hold anything.
    #[inline(always)]
    pub(super) fn walked(&self) -> usize {
        match self.readers.len() {
            1 => 1,
            _ => self.desk.used_shards(),
        }
    }

    /// The shard whose turn it is; the next one follows.
    #[inline(always)]
    fn step(&mut self) -> usize {
        let turn = self.turn;
        self.turn = self.behind(turn);
        turn
    }

    /// The shard that is walked after the one at `turn`.
    #[inline(always)]
    fn behind(&self, turn: usize) -> usize {
        if turn + 1 < self.walked() {
            turn + 1
        } else {
            0
        }
    }
}

/// Folds what one ring has, up to `max` values in all.
#[inline]
fn fold_one<A>(
    reader: &mut Reader,
    max: usize,
    folded: Folded<A>,
    f: &mut impl FnMut(A, u64) -> A,
) -> Folded<A> {
    /// Hands slots back, also when `f` panics.
    struct Batch<'a>(&'a mut Reader);
    impl Drop for Batch<'_> {
        fn drop(&mut self) {
            let mut panics = Panics::default();
            panics.run(|| self.0.release(true));
            panics.resume();
        }
    }
    let Folded {
        mut acc,
        mut consumed,
        mut skipped,
    } = folded;
    while consumed < max {
        let batch = Batch(reader);
        let count = (max - consumed).min(BATCH_MAX);
        let mut taken = 0;
        while taken < count {
            let run;
            (acc, run) = batch.0.fold_run(count - taken, acc, f);
            if run == 0 {
                break;
            }
            taken += run;
        }
        consumed += taken;
        skipped += batch.0.release(taken == count);
        if taken < count {
            batch.0.idle();
            break;
        }
    }
    Folded {
        acc,
        consumed,
        skipped,
    }
}

impl Drop for Consumer64 {
    fn drop(&mut self) {
        let mut panics = Panics::default();
        panics.run(|| self.desk.parker().clear());
        panics.run(|| self.close());
        panics.resume();
    }
}

impl std::fmt::Debug for Consumer64 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Consumer64")
            .field("shards", &self.readers.len())
            .field("is_finished", &self.is_finished())
            .finish_non_exhaustive()
    }
}
