//! A sleep word together with the `Waker` that ends the sleep.

use super::{Epoch, SleepWord};
use crate::sync::{AtomicU64, Ordering, Swap};
use std::sync::Arc;
use std::task::Waker;

/// Rings that may begin in one epoch before one of them has ended: a few by threads that meet, and
/// as many as there are by a waker that comes back here from inside itself.
const RINGS_MAX: u64 = 16;
const COUNT_BITS: u32 = RINGS_MAX.ilog2() + 1;

/// The place where one task parks and from which any thread wakes it.
///
/// The stored [`Waker`] is read in place and never taken, so a thread that stops while waking keeps
/// the waker from nobody. It runs outside every lock: it may panic (the mark then stays, and the
/// next thread wakes again), and it may poll the owner at once, which may park here anew. It may
/// also do what wakes this owner: then it is called from inside itself, up to 16 times a sleep.
///
/// [`park`](Self::park), [`unpark`](Self::unpark) and [`clear`](Self::clear) belong to the owner.
///
/// ```
/// use corelane_primitives::Parker;
/// use std::task::Waker;
///
/// let parker = Parker::new();
/// assert!(!parker.wake()); // nobody is parked
/// parker.park(Waker::noop());
/// // ... the owner looks for messages once more, finds none, and returns Pending ...
/// assert!(parker.wake());
/// assert!(!parker.wake()); // one wake an epoch
/// ```
pub struct Parker {
    word: SleepWord,
    waker: Swap<Waker>,
    /// epoch << COUNT_BITS | how many rings have begun in it
    rings: AtomicU64,
}

impl Parker {
    /// A place where nobody is parked.
    pub fn new() -> Self {
        Self {
            word: SleepWord::new(),
            waker: Swap::empty(),
            rings: AtomicU64::new(0),
        }
    }

    /// Parks the owner under `waker`; it must look for messages once more before it returns
    /// Pending.
    ///
    /// Costs a SeqCst fence; a waker other than the last one costs an allocation besides.
    pub fn park(&self, waker: &Waker) -> Epoch {
        if !self.has(waker) {
            self.waker.store(Some(Arc::new(waker.clone())));
        }
        self.word.prepare()
    }

    /// [`park`](Self::park) for an owner whose wakers take turns: it allocates nothing while
    /// nobody wakes it at the same moment.
    pub(super) fn park_with(&self, waker: &Waker, spare: &mut Spare) -> Epoch {
        if !self.has(waker) {
            let replaced = self.waker.store(Some(spare.fill(waker)));
            spare.keep(replaced);
        }
        self.word.prepare()
    }

    fn has(&self, waker: &Waker) -> bool {
        self.waker
            .read(|last| last.is_some_and(|last| last.will_wake(waker)))
    }

    /// Marks the owner awake, or takes a [`park`](Self::park) back.
    pub fn unpark(&self) {
        self.word.awake();
    }

    /// Forgets the stored waker, and what it keeps alive. The owner is awake afterwards.
    pub fn clear(&self) {
        self.word.awake();
        self.waker.store(None);
    }

    /// Whether the owner looks parked and not yet woken. A hint that costs one load: a caller that
    /// defers its [`wake`](Self::wake) asks it whether not to.
    #[inline]
    pub fn looks_parked(&self) -> bool {
        self.word.looks_asleep()
    }

    /// Wakes the owner if it is parked, and tells whether this call did.
    ///
    /// Call it after the message is stored. With nobody parked it costs a SeqCst fence and a load.
    /// Two threads that meet may both wake.
    ///
    /// # Panics
    ///
    /// If the waker does. The owner then counts as not yet woken.
    pub fn wake(&self) -> bool {
        self.word.sleeper().is_some_and(|epoch| self.ring(epoch))
    }

    /// [`wake`](Self::wake), but only if `wanted` holds once the owner was found parked.
    pub(crate) fn wake_if(&self, wanted: impl FnOnce() -> bool) -> bool {
        self.word
            .sleeper()
            .is_some_and(|epoch| wanted() && self.ring(epoch))
    }

    /// [`wake`](Self::wake) for a thread that has fenced since it stored its message.
    pub(crate) fn wake_after_fence(&self) -> bool {
        self.word
            .sleeper_after_fence()
            .is_some_and(|epoch| self.ring(epoch))
    }

    /// Wakes first and marks then, so that a thread stopped in between hangs nobody.
    fn ring(&self, epoch: Epoch) -> bool {
        let Some(ring) = Ring::begin(&self.rings, epoch) else {
            return false; // one of those that have begun reaches the owner
        };
        let woken = self.waker.read(|waker| {
            // None: the owner has left since, and nobody waits.
            waker.map(Waker::wake_by_ref).is_some()
        });
        ring.end();
        self.word.mark_rung(epoch);
        woken
    }
}

/// A ring that has begun; dropped by a panic of the waker, it counts no more.
struct Ring<'a> {
    rings: &'a AtomicU64,
    epoch: Epoch,
}

impl<'a> Ring<'a> {
    /// Counts a ring of `epoch`, unless too many have begun. Relaxed: only the count is read.
    fn begin(rings: &'a AtomicU64, epoch: Epoch) -> Option<Self> {
        let mut word = rings.load(Ordering::Relaxed);
        loop {
            let count = count_in(word, epoch);
            if count == RINGS_MAX {
                return None;
            }
            let next = epoch.number() << COUNT_BITS | (count + 1);
            match rings.compare_exchange(word, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(Self { rings, epoch }),
                Err(found) => word = found,
            }
        }
    }

    fn end(self) {
        std::mem::forget(self);
    }
}

impl Drop for Ring<'_> {
    fn drop(&mut self) {
        let mut word = self.rings.load(Ordering::Relaxed);
        // Ends when the owner sleeps anew, in another epoch.
        while count_in(word, self.epoch) > 0 {
            let fewer =
                self.rings
                    .compare_exchange(word, word - 1, Ordering::Relaxed, Ordering::Relaxed);
            match fewer {
                Ok(_) => return,
                Err(found) => word = found,
            }
        }
    }
}

/// How many rings of `epoch` the word has counted.
fn count_in(word: u64, epoch: Epoch) -> u64 {
    let none = epoch.number() << COUNT_BITS;
    match word >> COUNT_BITS == none >> COUNT_BITS {
        true => word - none,
        false => 0,
    }
}

/// Where a waker stood, kept from one [`Parker::park_with`] to the next. No waker stays in it.
#[derive(Default)]
pub(super) struct Spare(Option<Arc<Waker>>);

impl Spare {
    fn fill(&mut self, waker: &Waker) -> Arc<Waker> {
        let waker = waker.clone();
        let Some(mut place) = self.0.take() else {
            return Arc::new(waker);
        };
        let kept = Arc::get_mut(&mut place).expect("it was kept because nobody else had it");
        *kept = waker;
        place
    }

    /// Keeps the place of a waker, unless somebody still wakes by it.
    fn keep(&mut self, replaced: Option<Arc<Waker>>) {
        let Some(mut place) = replaced else { return };
        if let Some(kept) = Arc::get_mut(&mut place) {
            let old = std::mem::replace(kept, Waker::noop().clone());
            self.0 = Some(place);
            drop(old);
        }
    }
}

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Parker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parker")
            .field("word", &self.word)
            .finish_non_exhaustive()
    }
}
