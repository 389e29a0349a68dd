//! The handles of a subscription.

use super::change::{Set, Update};
use super::reader::Reader;
use super::settings::{Overflow, SetError, SubscriptionError, TrySetError};
use super::state::{Core, Refusal};
use crate::block::block_on_for;
use crate::feed::{Feed, Source};
use crate::signal::{Keep, OfShared, Replica, Replicated};
use crate::topic::{Bell, CAPACITY_MAX, Spare};
use crate::{Closed, Version};
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Weak};
use std::time::Duration;
use thread_aware::ThreadAware;
use thread_aware::affinity::Affinity;

/// How often [`Subscription::try_set`] tries while others set at the same moment.
const ATTEMPTS_MAX: u32 = 64;

/// The latest value for every reader, and every change of it for every feed.
///
/// It reads as a [`Signal`](crate::Signal) does. Its feeds yield the current value first and then
/// each change, in one order for all; `capacity` says how many changes a feed may be behind, and
/// [`Overflow`] what happens then: by default the writer waits. Where only the latest value counts,
/// take a signal, whose feeds hold up nobody.
///
/// A handle is cheap to clone and may be used from any thread; when the last one is gone, the
/// subscription is closed. `T` is treated as immutable.
///
/// ```
/// use corelane_primitives::{NextError, Overflow, Subscription};
///
/// let limit = Subscription::new(0, 8, Overflow::Backpressure);
/// let mut feed = limit.changes();
/// assert_eq!(feed.try_next(), Ok(0)); // each feed starts with the current value
/// limit.try_set(1).expect("there is room");
/// limit.try_set(2).expect("there is room");
/// assert_eq!((feed.try_next(), feed.try_next()), (Ok(1), Ok(2)));
/// assert_eq!(feed.try_next(), Err(NextError::Empty));
/// assert_eq!(limit.get_cloned(), 2);
/// ```
pub struct Subscription<T> {
    core: Arc<Core<T>>,
    open: Arc<Open<T>>,
    spare: Spare,
}

/// What the handles share. Its end closes the subscription, which feeds may still read.
struct Open<T>(Arc<Core<T>>);

impl<T> Drop for Open<T> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<T> Subscription<T> {
    /// Makes a subscription with its first value, whose feeds may be up to `capacity` changes
    /// behind.
    ///
    /// The newest values stay in memory, up to the capacity rounded up to a power of two, until
    /// others take their places.
    ///
    /// # Panics
    ///
    /// If `capacity` is not from 1 to 2^20. [`try_new`](Self::try_new) tells the same by an error.
    pub fn new(value: T, capacity: usize, overflow: Overflow) -> Self {
        match Self::try_new(value, capacity, overflow) {
            Ok(subscription) => subscription,
            Err(error) => panic!("{error}"),
        }
    }

    /// Makes a subscription as [`new`](Self::new) does, or tells why that cannot be.
    ///
    /// # Errors
    ///
    /// [`SubscriptionError::Capacity`] unless `capacity` is from 1 to 2^20.
    pub fn try_new(
        value: T,
        capacity: usize,
        overflow: Overflow,
    ) -> Result<Self, SubscriptionError> {
        if !(1..=CAPACITY_MAX).contains(&capacity) {
            return Err(SubscriptionError::Capacity(capacity));
        }
        let core = Arc::new(Core::new(value, capacity, overflow));
        let open = Arc::new(Open(Arc::clone(&core)));
        Ok(Self::of(core, open))
    }

    fn of(core: Arc<Core<T>>, open: Arc<Open<T>>) -> Self {
        let spare = Spare::new();
        Self { core, open, spare }
    }

    /// The current value, shared: it stays as it is whatever is set later.
    pub fn get(&self) -> Arc<T> {
        self.core.state.get()
    }

    /// A clone of the current value.
    pub fn get_cloned(&self) -> T
    where
        T: Clone,
    {
        self.read(T::clone)
    }

    /// Lends the current value to `read`, in place.
    pub fn read<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        self.core.state.read(|_, value| read(value))
    }

    /// [`read`](Self::read), with the version of the very value that is lent.
    pub fn read_versioned<R>(&self, read: impl FnOnce(Version, &T) -> R) -> R {
        let state = &self.core.state;
        state.read(|mark, value| read(mark.version, value))
    }

    /// A reader's own reference to the latest value, as [`Signal::replica`](crate::Signal::replica)
    /// makes it. It does not keep the subscription open.
    pub fn replica(&self) -> Replica<Self> {
        Replica::new(OfShared::new(Arc::clone(&self.core)))
    }

    /// The version of the current value.
    pub fn version(&self) -> Version {
        self.core.state.mark().version
    }

    /// How many changes a feed may be behind.
    pub fn capacity(&self) -> usize {
        self.core.capacity
    }

    /// What happens to a change for which a feed has no room.
    pub fn overflow(&self) -> Overflow {
        self.core.overflow
    }

    /// Makes the current value the last one: each feed yields what it has, the current value unless
    /// it had that, and then ends. It needs no room, waiting changes get their values back, and
    /// closing twice is nothing.
    ///
    /// # Panics
    ///
    /// If a feed's or a writer's waker does, after all others were called.
    pub fn close(&self) {
        self.core.close();
    }

    /// Sets the last value and closes, as one step, which needs no room.
    ///
    /// # Errors
    ///
    /// [`Closed`] with the value when the subscription is closed.
    ///
    /// # Panics
    ///
    /// As [`close`](Self::close).
    pub fn close_with(&self, value: T) -> Result<Version, Closed<T>> {
        self.core.close_with(value).map_err(Closed)
    }

    /// Whether the current value is the last one.
    pub fn is_closed(&self) -> bool {
        self.core.state.mark().is_last
    }

    /// A handle that does not keep the subscription open.
    pub fn downgrade(&self) -> WeakSubscription<T> {
        WeakSubscription {
            open: Arc::downgrade(&self.open),
        }
    }

    /// What the subscription has counted.
    pub fn stats(&self) -> SubscriptionStats {
        let bells = &self.core.log.bells;
        let log = self.core.log.stats();
        SubscriptionStats {
            control_turns: log.control_turns + bells.turns() + self.core.gauges.turns(),
            scans: bells.scans(),
            bells: bells.bells(),
            nodes: log.nodes,
        }
    }

    pub(super) fn core(&self) -> &Core<T> {
        &self.core
    }

    /// Changes the state, as often as others were faster; the caller holds the bell.
    pub(super) fn change(
        &self,
        attempts_max: u32,
        make: impl FnMut(&T) -> Arc<T>,
    ) -> Result<Version, Refusal> {
        self.core.change(&self.spare, attempts_max, make)
    }
}

impl<T: Send + Sync> Subscription<T> {
    /// Sets the value as soon as every feed that wants to lose nothing has room, and says which
    /// version it is.
    ///
    /// Completes at the first poll when there is room and nobody waits for it; then every read on
    /// every shard sees this value or a later one, and every feed has it. Writers that wait are
    /// served in the order of their coming.
    ///
    /// # Errors
    ///
    /// [`SetError::Closed`] with the value when the subscription is closed. With
    /// [`Overflow::Fail`], [`SetError::Overrun`] when the value *was* set and a full feed has
    /// failed.
    ///
    /// # Cancel safety
    ///
    /// The value is set in the poll that completes. A future dropped before leaves nothing behind,
    /// holds up nobody, and drops its value.
    ///
    /// # Panics
    ///
    /// If a feed's waker does, or the drop of a value that leaves the log; the value is set then,
    /// unless it comes out of a waker of another writer that waits.
    pub fn set(&self, value: T) -> impl Future<Output = Result<Version, SetError<T>>> {
        Set::new(self, value)
    }

    /// Sets the value now, or gives it back.
    ///
    /// # Errors
    ///
    /// As the variants of [`TrySetError`] say.
    ///
    /// # Panics
    ///
    /// As [`set`](Self::set).
    pub fn try_set(&self, value: T) -> Result<Version, TrySetError<T>> {
        let log = &self.core.log;
        if !log.room.is_idle() {
            return Err(if self.is_closed() {
                TrySetError::Closed(value)
            } else if log.free() == 0 {
                TrySetError::Full(value)
            } else {
                TrySetError::Busy(value)
            });
        }
        let value = Arc::new(value);
        let changed = {
            let _bell = Bell(log);
            self.change(ATTEMPTS_MAX, |_| Arc::clone(&value))
        };
        changed.map_err(|refusal| {
            let refused = match refusal {
                Refusal::Overrun(version) => return TrySetError::Overrun(version),
                Refusal::Full => TrySetError::Full,
                Refusal::Busy => TrySetError::Busy,
                Refusal::Closed => TrySetError::Closed,
            };
            let value = Arc::into_inner(value);
            refused(value.expect("what was never published has one holder"))
        })
    }

    /// [`set`](Self::set) for a plain thread: sleeps until there is room, at most `timeout`.
    /// `Duration::MAX` waits without end. Not for a task.
    ///
    /// # Errors
    ///
    /// [`TrySetError::Full`] when the time has passed; [`TrySetError::Closed`] and
    /// [`TrySetError::Overrun`] as with [`set`](Self::set).
    pub fn blocking_set(&self, value: T, timeout: Duration) -> Result<Version, TrySetError<T>> {
        let mut set = Set::new(self, value);
        match block_on_for(&mut set, timeout) {
            Some(answer) => answer.map_err(|error| match error {
                SetError::Closed(value) => TrySetError::Closed(value),
                SetError::Overrun(version) => TrySetError::Overrun(version),
            }),
            None => {
                let value = set.into_value();
                Err(TrySetError::Full(value.expect("it was not set")))
            }
        }
    }

    /// Sets the value as [`set`](Self::set) does, for who wants no version: readers see it, and
    /// feeds get it, later. It waits for room all the same, since nothing holds values without a
    /// bound.
    ///
    /// # Errors
    ///
    /// As [`set`](Self::set).
    ///
    /// # Cancel safety
    ///
    /// As [`set`](Self::set).
    pub fn set_eventually(&self, value: T) -> impl Future<Output = Result<(), SetError<T>>> {
        let set = self.set(value);
        async move { set.await.map(drop) }
    }

    /// Sets what `next` makes of the current value, as one step: no other change comes in between.
    ///
    /// `next` runs once there is room, and again when another change was faster.
    ///
    /// # Errors
    ///
    /// [`SetError::Closed`] when the subscription is closed; [`SetError::Overrun`] as with
    /// [`set`](Self::set).
    ///
    /// # Cancel safety
    ///
    /// As [`set`](Self::set).
    ///
    /// # Panics
    ///
    /// If `next` does, and nothing is set then; or as [`set`](Self::set).
    pub fn update(
        &self,
        next: impl FnMut(&T) -> T,
    ) -> impl Future<Output = Result<Version, SetError>> {
        Update::new(self, next)
    }
}

impl<T: Clone + Send + Sync> Subscription<T> {
    /// A feed of the changes: the current value first, then each one.
    ///
    /// It belongs to the calling thread. The first feed of a shard goes through the control plane,
    /// further ones do not, except with [`Overflow::Fail`].
    pub fn changes(&self) -> Feed<T> {
        Feed::new(Source::Subscription(Reader::new(&self.core)))
    }
}

impl<T> Clone for Subscription<T> {
    fn clone(&self) -> Self {
        Self::of(Arc::clone(&self.core), Arc::clone(&self.open))
    }
}

impl<T> Drop for Subscription<T> {
    fn drop(&mut self) {
        self.core.log.end_publisher(&self.spare);
    }
}

/// A subscription is one for all cores: a move changes nothing.
impl<T: Send + Sync> ThreadAware for Subscription<T> {
    fn relocate(&mut self, _source: Option<Affinity>, _destination: Affinity) {}
}

impl<T> fmt::Debug for Subscription<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("mark", &self.core.state.mark())
            .field("capacity", &self.core.capacity)
            .field("overflow", &self.core.overflow)
            .finish_non_exhaustive()
    }
}

/// A handle that does not keep its subscription open; made by [`Subscription::downgrade`].
pub struct WeakSubscription<T> {
    open: Weak<Open<T>>,
}

impl<T> WeakSubscription<T> {
    /// A handle, unless all others are gone.
    pub fn upgrade(&self) -> Option<Subscription<T>> {
        let open = self.open.upgrade()?;
        Some(Subscription::of(Arc::clone(&open.0), open))
    }
}

impl<T> Clone for WeakSubscription<T> {
    fn clone(&self) -> Self {
        Self {
            open: Weak::clone(&self.open),
        }
    }
}

/// A subscription is one for all cores: a move changes nothing.
impl<T: Send + Sync> ThreadAware for WeakSubscription<T> {
    fn relocate(&mut self, _source: Option<Affinity>, _destination: Affinity) {}
}

impl<T> fmt::Debug for WeakSubscription<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSubscription").finish_non_exhaustive()
    }
}

impl<T> Replicated for Subscription<T> {
    type Value = T;
    type Own = OfShared<Arc<Core<T>>>;
}

/// What a subscription has counted since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubscriptionStats {
    /// Turns of the control plane: a shard's first feed came, or its last one went.
    pub control_turns: u64,
    /// Looks over the shards with feeds for sleeping ones, after a change.
    pub scans: u64,
    /// Sleeping shards that were woken.
    pub bells: u64,
    /// Places for values that were ever made.
    pub nodes: u64,
}
