//! One word that says whether its owner sleeps.

use crate::sync::{AtomicU64, Ordering, Site, acquire, fence, release};

const AWAKE: u64 = 0;
const ASLEEP: u64 = 1;
const RUNG: u64 = 2;
const STATE_BITS: u32 = 2;
const STATE_MASK: u64 = (1 << STATE_BITS) - 1;

/// One sleep of one owner. Epochs never repeat: there are 2^62.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epoch(u64);

impl Epoch {
    pub(super) const fn number(self) -> u64 {
        self.0
    }

    const fn word(self, state: u64) -> u64 {
        self.0 << STATE_BITS | state
    }
}

/// Tells wakers whether its owner sleeps, and in which epoch.
///
/// The owner calls [`prepare`](Self::prepare), looks for messages once more, and only then blocks.
/// A thread with a message stores it, asks [`sleeper`](Self::sleeper), rings by whatever wakes that
/// owner (an eventfd, a `Waker`), and *then* calls [`mark_rung`](Self::mark_rung). Between ring and
/// mark a second thread may ring too; that is the price for a waker that may stop anywhere.
///
/// `prepare` and `awake` belong to the owner alone. Called from several threads at once they lose
/// wakes, but break no memory.
///
/// ```
/// use corelane_primitives::SleepWord;
///
/// let word = SleepWord::new();
/// assert_eq!(word.sleeper(), None);
/// let epoch = word.prepare();
/// assert_eq!(word.sleeper(), Some(epoch));
/// word.mark_rung(epoch); // the ring was made: nobody else needs to
/// assert_eq!(word.sleeper(), None);
/// word.awake();
/// assert!(word.is_awake());
/// ```
pub struct SleepWord {
    /// epoch << 2 | state
    word: AtomicU64,
}

impl SleepWord {
    /// An owner that is awake.
    #[cfg(not(corelane_loom))]
    pub const fn new() -> Self {
        Self {
            word: AtomicU64::new(AWAKE),
        }
    }

    /// An owner that is awake.
    #[cfg(corelane_loom)]
    pub fn new() -> Self {
        Self {
            word: AtomicU64::new(AWAKE),
        }
    }

    /// Starts a new epoch of sleep and fences. Owner only.
    ///
    /// Between this and blocking the owner must look for messages: whoever published before the
    /// fence may have seen it awake and not rung. Costs a store and a SeqCst fence.
    pub fn prepare(&self) -> Epoch {
        // Relaxed: the owner alone changes the epoch.
        let last = self.word.load(Ordering::Relaxed) >> STATE_BITS;
        let epoch = Epoch(last + 1);
        // Release, partner ParkReadMark: who sees the mark also sees the waker stored before it.
        self.word.store(epoch.word(ASLEEP), release(Site::ParkMark));
        fence(Site::ParkMarkFence);
        epoch
    }

    /// Marks the owner awake, or takes a [`prepare`](Self::prepare) back. Owner only.
    ///
    /// Costs a load and a store. It publishes nothing: an owner that goes to sleep again
    /// fences in `prepare` before its last look.
    pub fn awake(&self) {
        let epoch = Epoch(self.word.load(Ordering::Relaxed) >> STATE_BITS);
        self.word.store(epoch.word(AWAKE), Ordering::Relaxed);
    }

    /// Whether the owner is awake, as far as this thread can see. A hint outside the owner.
    pub fn is_awake(&self) -> bool {
        self.word.load(Ordering::Relaxed) & STATE_MASK == AWAKE
    }

    /// Whether the owner sleeps and nobody has said that it was rung, as far as this thread can
    /// see. A hint: it neither fences nor acquires.
    #[inline]
    pub(crate) fn looks_asleep(&self) -> bool {
        self.word.load(Ordering::Relaxed) & STATE_MASK == ASLEEP
    }

    /// Fences, then tells whether the owner sleeps and nobody has said that it was rung.
    ///
    /// Call it after the message is stored. With an owner awake it costs a SeqCst fence and a load.
    #[must_use = "a sleeper that nobody rings misses the message"]
    pub fn sleeper(&self) -> Option<Epoch> {
        fence(Site::ParkWakeFence);
        self.sleeper_after_fence()
    }

    /// [`sleeper`](Self::sleeper) for a thread that has fenced since it stored its message.
    pub(crate) fn sleeper_after_fence(&self) -> Option<Epoch> {
        let word = self.word.load(acquire(Site::ParkReadMark));
        (word & STATE_MASK == ASLEEP).then_some(Epoch(word >> STATE_BITS))
    }

    /// Says that the owner was rung in `epoch`. Call it after the ring was made, never before.
    ///
    /// An owner that has woken since, or sleeps in a later epoch, is not touched.
    pub fn mark_rung(&self, epoch: Epoch) {
        // Relaxed: who reads `rung` skips its ring, and reads nothing that this thread wrote. The
        // owner finds the skipped message by the fence of its next `prepare`. A failure means that
        // the owner has gone on, which needs no mark.
        let _ = self.word.compare_exchange(
            epoch.word(ASLEEP),
            epoch.word(RUNG),
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
    }
}

impl Default for SleepWord {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for SleepWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SleepWord")
            .field("awake", &self.is_awake())
            .finish_non_exhaustive()
    }
}
