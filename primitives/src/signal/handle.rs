//! The handles of a signal.

use super::changes::Changes;
use super::keep::{Follow, Keep, Version};
use super::plain::Plain;
use super::replica::{OfPlain, OfShared, Replica};
use super::shared::Shared;
use crate::Closed;
use crate::park::Bells;
use crate::sync::{Site, fence};
use bytemuck::{CheckedBitPattern, NoUninit};
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Weak};
use thread_aware::ThreadAware;
use thread_aware::affinity::Affinity;

/// A signal whose value stands in place, made by [`Signal::plain`].
pub type PlainSignal<T> = Signal<T, Plain<T>>;

/// The latest value, for every reader on every shard.
///
/// Any thread may read and set; no read and no feed ever delays a writer, and no stopped writer
/// delays anybody. Its feeds, made by [`changes`](Self::changes), skip what was replaced before
/// they looked: take a [`Topic`](crate::Topic) for messages that all must arrive.
///
/// A handle is cheap to clone. When the last one is gone, the signal is closed. `T` is treated as
/// immutable: what a value with interior mutability changes in itself, no feed is told.
///
/// [`new`](Self::new) keeps a value of any type behind a pointer; a set allocates.
/// [`plain`](Self::plain) keeps up to 64 bytes without pointers in place; a set allocates nothing,
/// and a read writes nothing that another thread sees.
///
/// ```
/// use corelane_primitives::{NextError, Signal};
///
/// let signal = Signal::new(0);
/// let mut feed = signal.changes();
/// assert_eq!(feed.try_next(), Ok(0)); // each feed starts with the current value
/// signal.set(1)?;
/// signal.set(2)?;
/// assert_eq!(feed.try_next(), Ok(2));
/// assert_eq!(feed.try_next(), Err(NextError::Empty));
/// # Ok::<(), corelane_primitives::Closed<i32>>(())
/// ```
pub struct Signal<T, K: Keep<T> = Shared<T>> {
    core: Arc<Core<T, K>>,
    open: Arc<Open<T, K>>,
}

/// What handles and feeds share.
pub struct Core<T, K> {
    pub(super) keep: K,
    pub(super) bells: Bells,
    value: PhantomData<T>,
}

impl<T, K: Keep<T>> Core<T, K> {
    /// Rings when the returned guard is dropped, also by a panic of a replaced value's drop.
    fn ringing(&self) -> Ringing<'_> {
        Ringing(&self.bells)
    }

    fn close(&self) {
        self.keep.close();
        ring(&self.bells);
    }

    /// A number that grows with each change, the end included: it is beyond the next version that
    /// a feed wants when that is there, or will never be.
    pub(super) fn news(&self) -> u64 {
        let mark = self.keep.mark();
        mark.version.0 + 1 + u64::from(mark.is_last)
    }
}

/// After a change.
#[inline]
fn ring(bells: &Bells) {
    // Partner ParkMarkFence: either a feed sees the set, or its mark is seen here.
    fence(Site::SignalSetFence);
    bells.ring_after_fence();
}

struct Ringing<'a>(&'a Bells);

impl Drop for Ringing<'_> {
    #[inline]
    fn drop(&mut self) {
        ring(self.0);
    }
}

/// What the handles share. Its end closes the signal, which feeds may still read.
struct Open<T, K: Keep<T>>(Arc<Core<T, K>>);

impl<T, K: Keep<T>> Drop for Open<T, K> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<T> Signal<T> {
    /// Makes a signal of any type, with its first value.
    pub fn new(value: T) -> Self {
        Self::of(Shared::new(value))
    }

    /// A reader's own reference to the latest value, which looks by one load whether another was
    /// set: reads then take no guard, and [`Replica::look`] counts nothing.
    ///
    /// It does not keep the signal open.
    pub fn replica(&self) -> Replica<Self> {
        Replica::new(OfShared::new(Arc::clone(&self.core)))
    }
}

impl<T: NoUninit + CheckedBitPattern> Signal<T, Plain<T>> {
    /// Makes a signal whose value is up to 64 bytes without pointers or padding; a larger one does
    /// not compile.
    ///
    /// Memory is 5 KiB. It is lock-free: a read repeats its copy when a set was faster, and a set
    /// its exchange.
    ///
    /// ```
    /// use corelane_primitives::Signal;
    ///
    /// let top = Signal::plain([101_250_u64, 7]);
    /// top.set([101_300, 3])?;
    /// assert_eq!(top.read(|[price, _]| *price), 101_300);
    /// # Ok::<(), corelane_primitives::Closed<[u64; 2]>>(())
    /// ```
    ///
    /// ```compile_fail,E0080
    /// corelane_primitives::Signal::plain([0_u64; 9]);
    /// ```
    pub fn plain(value: T) -> Self {
        Self::of(Plain::new(value))
    }

    /// A reader's own copy of the latest value, which looks by one load whether another was set:
    /// [`Replica::get`] answers an [`Arc`] without an allocation, and without a line that another
    /// core writes.
    ///
    /// It does not keep the signal open.
    pub fn replica(&self) -> Replica<Self> {
        Replica::new(OfPlain::new(Arc::clone(&self.core)))
    }
}

impl<T, K: Keep<T>> Signal<T, K> {
    fn of(keep: K) -> Self {
        let core = Arc::new(Core {
            keep,
            bells: Bells::new(),
            value: PhantomData,
        });
        let open = Arc::new(Open(Arc::clone(&core)));
        Self { core, open }
    }

    /// The current value, shared: it stays as it is whatever is set later.
    ///
    /// A plain signal has none to share and allocates one; [`get_cloned`](Self::get_cloned) and
    /// [`read`](Self::read) are what it is made for.
    ///
    /// ```
    /// use corelane_primitives::Signal;
    ///
    /// let signal = Signal::new([1, 2, 3]);
    /// let before = signal.get();
    /// signal.set([4, 5, 6])?;
    /// assert_eq!((*before, *signal.get()), ([1, 2, 3], [4, 5, 6]));
    /// # Ok::<(), corelane_primitives::Closed<[i32; 3]>>(())
    /// ```
    #[inline]
    pub fn get(&self) -> Arc<T> {
        self.core.keep.get()
    }

    /// A clone of the current value.
    ///
    /// ```
    /// use corelane_primitives::Signal;
    ///
    /// let signal = Signal::new(0);
    /// signal.set(42)?;
    /// assert_eq!(signal.get_cloned(), 42);
    /// # Ok::<(), corelane_primitives::Closed<i32>>(())
    /// ```
    #[inline]
    pub fn get_cloned(&self) -> T
    where
        T: Clone,
    {
        self.read(T::clone)
    }

    /// Lends the current value to `read`. A signal made by [`new`](Self::new) lends it in place.
    #[inline]
    pub fn read<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        self.core.keep.read(|_, value| read(value))
    }

    /// [`read`](Self::read), with the version of the very value that is lent.
    #[inline]
    pub fn read_versioned<R>(&self, read: impl FnOnce(Version, &T) -> R) -> R {
        self.core.keep.read(|mark, value| read(mark.version, value))
    }

    /// The version of the current value.
    #[inline]
    pub fn version(&self) -> Version {
        self.core.keep.mark().version
    }

    /// Sets the value, and says which version it is.
    ///
    /// When it returns, every read on every shard sees this value or a later one, and the news
    /// are delivered: whatever feed looks finds them, and of each shard whose feeds sleep, one was
    /// woken, which wakes the others there, and each that sleeps as a stream. Nothing of this waits
    /// for anybody, so there is no future to be polled. Without a sleeping feed it costs one
    /// exchange, a fence and a load.
    ///
    /// # Errors
    ///
    /// [`Closed`] with the value when the signal is closed.
    ///
    /// # Panics
    ///
    /// If a feed's waker does, or the drop of the value that was replaced; it was set then.
    #[inline]
    pub fn set(&self, value: T) -> Result<Version, Closed<T>> {
        let _ringing = self.core.ringing();
        self.core.keep.put(value, Follow::More).map_err(Closed)
    }

    /// Sets the value without saying when: readers see it and feeds find it later. For a signal
    /// that is the same as [`set`](Self::set), which never waits.
    ///
    /// # Errors
    ///
    /// As [`set`](Self::set).
    pub fn set_eventually(&self, value: T) -> Result<(), Closed<T>> {
        self.set(value).map(drop)
    }

    /// Sets what `next` makes of the current value, as one step: no other set comes in between.
    ///
    /// `next` runs again when another set was faster.
    ///
    /// ```
    /// use corelane_primitives::Signal;
    ///
    /// let signal = Signal::plain(20_u32);
    /// signal.update(|value| value + 1)?;
    /// assert_eq!(signal.get_cloned(), 21);
    /// # Ok::<(), corelane_primitives::Closed>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Closed`] when the signal is closed.
    ///
    /// # Panics
    ///
    /// If `next` does, and nothing is set then; or as [`set`](Self::set).
    pub fn update(&self, next: impl FnMut(&T) -> T) -> Result<Version, Closed> {
        let _ringing = self.core.ringing();
        self.core.keep.replace(next).ok_or(Closed(()))
    }

    /// Makes the current value the last one: each feed still yields it, and then ends. Closing
    /// twice is nothing.
    pub fn close(&self) {
        self.core.close();
    }

    /// Sets the last value and closes, as one step.
    ///
    /// # Errors
    ///
    /// [`Closed`] with the value when the signal is closed.
    ///
    /// # Panics
    ///
    /// As [`set`](Self::set).
    pub fn close_with(&self, value: T) -> Result<Version, Closed<T>> {
        let _ringing = self.core.ringing();
        self.core.keep.put(value, Follow::Nothing).map_err(Closed)
    }

    /// Whether the current value is the last one.
    pub fn is_closed(&self) -> bool {
        self.core.keep.mark().is_last
    }

    /// A feed of the changes: the current value first, then always the latest.
    ///
    /// It belongs to the calling thread. The first feed of a shard goes through the control plane,
    /// further ones do not.
    pub fn changes(&self) -> Changes<T, K> {
        Changes::new(Arc::clone(&self.core))
    }

    /// A handle that does not keep the signal open.
    pub fn downgrade(&self) -> WeakSignal<T, K> {
        WeakSignal {
            open: Arc::downgrade(&self.open),
        }
    }

    /// What the signal has counted.
    pub fn stats(&self) -> SignalStats {
        let Core { keep, bells, .. } = &*self.core;
        SignalStats {
            control_turns: bells.turns(),
            scans: bells.scans(),
            bells: bells.bells(),
            blocks_added: keep.blocks_added(),
        }
    }
}

impl<T, K: Keep<T>> Clone for Signal<T, K> {
    fn clone(&self) -> Self {
        Self {
            core: Arc::clone(&self.core),
            open: Arc::clone(&self.open),
        }
    }
}

/// A signal is one for all cores: a move changes nothing.
impl<T: Send + Sync, K: Keep<T> + Send + Sync> ThreadAware for Signal<T, K> {
    fn relocate(&mut self, _source: Option<Affinity>, _destination: Affinity) {}
}

impl<T, K: Keep<T>> fmt::Debug for Signal<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signal")
            .field("mark", &self.core.keep.mark())
            .finish_non_exhaustive()
    }
}

/// A handle that does not keep its signal open; made by [`Signal::downgrade`].
pub struct WeakSignal<T, K: Keep<T> = Shared<T>> {
    open: Weak<Open<T, K>>,
}

impl<T, K: Keep<T>> WeakSignal<T, K> {
    /// A handle, unless all others are gone.
    pub fn upgrade(&self) -> Option<Signal<T, K>> {
        let open = self.open.upgrade()?;
        let core = Arc::clone(&open.0);
        Some(Signal { core, open })
    }
}

impl<T, K: Keep<T>> Clone for WeakSignal<T, K> {
    fn clone(&self) -> Self {
        Self {
            open: Weak::clone(&self.open),
        }
    }
}

/// A signal is one for all cores: a move changes nothing.
impl<T: Send + Sync, K: Keep<T> + Send + Sync> ThreadAware for WeakSignal<T, K> {
    fn relocate(&mut self, _source: Option<Affinity>, _destination: Affinity) {}
}

impl<T, K: Keep<T>> fmt::Debug for WeakSignal<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSignal").finish_non_exhaustive()
    }
}

/// What a signal has counted since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignalStats {
    /// Turns of the control plane: a shard's first feed came, or its last one went.
    pub control_turns: u64,
    /// Looks over the shards with feeds for sleeping ones, after a set.
    pub scans: u64,
    /// Sleeping shards that were woken.
    pub bells: u64,
    /// Blocks of 64 slots that a plain signal added, since more writers were at work at once.
    pub blocks_added: u64,
}
