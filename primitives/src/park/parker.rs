//! A sleep word together with the `Waker` that ends the sleep.

use super::{Epoch, SleepWord};
use crate::sync::Swap;
use std::sync::Arc;
use std::task::Waker;

/// The place where one task parks and from which any thread wakes it.
///
/// The stored [`Waker`] is read in place and never taken, so a thread that stops while waking keeps
/// the waker from nobody. It runs outside every lock: it may panic (the mark then stays, and the
/// next thread wakes again), and it may poll the owner at once, which may park here anew.
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
}

impl Parker {
    /// A place where nobody is parked.
    pub fn new() -> Self {
        Self {
            word: SleepWord::new(),
            waker: Swap::empty(),
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
        let woken = self.waker.read(|waker| {
            // None: the owner has left since, and nobody waits.
            waker.map(Waker::wake_by_ref).is_some()
        });
        self.word.mark_rung(epoch);
        woken
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
