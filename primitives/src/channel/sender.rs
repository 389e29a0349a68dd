//! The senders' handle.

use super::passage::{AsIs, Passage};
use super::permits::Permits;
use super::send::{Ending, Reserving, Sending, TimedSending};
use super::shared::{Credit, Run, Shared};
use super::sink::Place;
use super::weak::WeakSender;
use crate::block::{block_on, block_on_for};
use crate::sync::Arc;
use crate::{Closed, SendError};
use std::fmt;
use std::future::Future;
use std::time::Duration;
use thread_aware::{ThreadAware, affinity::Affinity};

/// A sending handle of a channel, made by [`channel`](crate::channel).
///
/// Each clone is another handle, for any thread; the channel closes when the last is dropped. What
/// one handle sends is received in its order, also when the handle changes threads. As a `Sink` it
/// reserves one place when it is ready, and gives it back when it is dropped.
///
/// A send takes one of the channel's places and one position of its ring, and wakes the receiver
/// if that sleeps: two compare-exchanges and a fence. Who finds no place waits, and is granted
/// one in the order of coming; items are received in the order in which they are then sent. Each
/// wait allocates its place on the list. In a channel of 64 places or more a handle whose turn has
/// come may send up to 64 items before it stands in line again, as long as there is room beyond
/// what others were granted, so that a full channel costs one wait a run and not one an item.
///
/// ```
/// let (sender, mut receiver) = corelane_primitives::channel(4);
/// std::thread::scope(|scope| {
///     for worker in 0..3 {
///         let sender = sender.clone();
///         scope.spawn(move || {
///             for number in 0..100 {
///                 sender.blocking_send((worker, number)).expect("the receiver is there");
///             }
///         });
///     }
///     drop(sender);
///     let mut next = [0; 3];
///     while let Some((worker, number)) = receiver.blocking_recv() {
///         assert_eq!(number, next[worker]); // each handle's own order
///         next[worker] += 1;
///     }
///     assert_eq!(next, [100; 3]);
/// });
/// ```
pub struct Sender<T, P: Passage<T> = AsIs> {
    pub(super) shared: Arc<Shared<T, P>>,
    /// What the handle holds as a `Sink`.
    pub(super) place: Place,
    pub(super) run: Run,
}

impl<T, P: Passage<T>> Sender<T, P> {
    /// A handle that is counted already.
    pub(super) fn new(shared: Arc<Shared<T, P>>) -> Self {
        Self {
            shared,
            place: Place::default(),
            run: Run::new(),
        }
    }

    /// Sends `value` if there is a place that nobody waits for, or in the handle's turn.
    ///
    /// # Errors
    ///
    /// [`SendError::Full`], and [`SendError::Closed`].
    ///
    /// # Panics
    ///
    /// If the receiver's waker does. The value is sent all the same.
    #[inline]
    pub fn try_send(&self, value: T) -> Result<(), SendError<T>> {
        match self.try_take(1) {
            Credit::Taken => {
                let sent = self.shared.push(value);
                sent.map_err(SendError::from)
            }
            Credit::Full => Err(SendError::Full(value)),
            Credit::Closed => Err(SendError::Closed(value)),
        }
    }

    /// Sends `value` as soon as there is a place.
    ///
    /// Completes at the first poll when there is one that nobody waits for.
    ///
    /// # Errors
    ///
    /// [`Closed`] with the value, also when the channel closes meanwhile.
    ///
    /// # Cancel safety
    ///
    /// The value is sent in the poll that completes. A future dropped before leaves nothing behind,
    /// drops the value, and passes on the place that it was granted; to keep the value, wait for
    /// [`reserve`](Self::reserve) and send then.
    pub fn send(&self, value: T) -> impl Future<Output = Result<(), Closed<T>>> {
        let mut sending = Sending::new(self, value);
        std::future::poll_fn(move |cx| sending.poll_send(cx))
    }

    /// [`send`](Self::send) for `timeout` at most; `Duration::MAX` waits as long as it takes.
    ///
    /// The time counts from the first poll, and ends on the clock of the channel's
    /// [`timers`](crate::ChannelBuilder::timers), never early.
    ///
    /// # Errors
    ///
    /// [`SendError::Closed`], [`SendError::TimedOut`] when the time has passed, and
    /// [`SendError::NoTimers`] when a time was given to a channel without timers.
    ///
    /// # Cancel safety
    ///
    /// As [`send`](Self::send).
    pub fn send_timeout(
        &self,
        value: T,
        timeout: Duration,
    ) -> impl Future<Output = Result<(), SendError<T>>> {
        let mut sending = TimedSending::new(self, value, timeout);
        std::future::poll_fn(move |cx| sending.poll_send(cx))
    }

    /// [`send`](Self::send) for a plain thread: sleeps while there is no place. Not for a task: it
    /// would hold up all others of its thread.
    ///
    /// # Errors
    ///
    /// [`Closed`] with the value.
    pub fn blocking_send(&self, value: T) -> Result<(), Closed<T>> {
        block_on(self.send(value))
    }

    /// [`blocking_send`](Self::blocking_send) for `timeout` of the system's clock at most, whether
    /// or not the channel has timers.
    ///
    /// # Errors
    ///
    /// [`SendError::Closed`], and [`SendError::TimedOut`] when the time has passed, never early.
    ///
    /// ```
    /// use corelane_primitives::{SendError, channel};
    /// use std::time::Duration;
    ///
    /// let (sender, receiver) = channel(1);
    /// assert_eq!(sender.try_send("inside"), Ok(()));
    /// let waited = sender.blocking_send_timeout("too many", Duration::from_millis(1));
    /// assert_eq!(waited, Err(SendError::TimedOut("too many")));
    /// # drop(receiver);
    /// ```
    pub fn blocking_send_timeout(&self, value: T, timeout: Duration) -> Result<(), SendError<T>> {
        let mut sending = Sending::new(self, value);
        match block_on_for(std::future::poll_fn(|cx| sending.poll_send(cx)), timeout) {
            Some(sent) => sent.map_err(SendError::from),
            None => Err(SendError::TimedOut(sending.give_up())),
        }
    }

    /// Takes `count` places as soon as there are as many, and gives them as permits.
    ///
    /// The wait is for exactly these: no more are ever granted, and those behind wait until these
    /// are there.
    ///
    /// # Errors
    ///
    /// [`Closed`], also when the channel closes meanwhile.
    ///
    /// # Panics
    ///
    /// When polled, if `count` is more than the capacity, which would wait for ever.
    ///
    /// # Cancel safety
    ///
    /// The places are taken in the poll that completes; a future dropped before leaves nothing
    /// behind, and passes on what it was granted.
    pub fn reserve(&self, count: usize) -> impl Future<Output = Result<Permits<'_, T, P>, Closed>> {
        Reserving::new(self, count)
    }

    /// Takes `count` places if there are as many that nobody waits for.
    ///
    /// # Errors
    ///
    /// [`SendError::Full`], and [`SendError::Closed`].
    pub fn try_reserve(&self, count: usize) -> Result<Permits<'_, T, P>, SendError<()>> {
        match self.try_take(count) {
            Credit::Taken => {
                let permits = Permits::new(&self.shared, count);
                permits.map_err(|Closed(())| SendError::Closed(()))
            }
            Credit::Full => Err(SendError::Full(())),
            Credit::Closed => Err(SendError::Closed(())),
        }
    }

    /// Waits until the channel is closed, by either side, or its receiver is gone.
    ///
    /// # Cancel safety
    ///
    /// Dropped at any time it leaves nothing behind.
    pub fn closed(&self) -> impl Future<Output = ()> {
        Ending::new(self)
    }

    /// Refuses all later sends of all handles. The receiver takes what is inside, and then ends.
    ///
    /// # Panics
    ///
    /// If the waker of somebody does who waits at the channel. It is closed all the same.
    pub fn close(&self) {
        self.shared.close();
    }

    /// Whether the channel was closed, or its receiver is gone.
    pub fn is_closed(&self) -> bool {
        self.place.has_left() || self.shared.is_closed()
    }

    /// Whether both handles send into the same channel.
    pub fn is_same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// A handle that neither keeps the channel open nor can send by itself.
    pub fn downgrade(&self) -> WeakSender<T, P> {
        WeakSender::new(Arc::clone(&self.shared))
    }

    /// How many items the channel holds at most.
    pub fn capacity(&self) -> usize {
        self.shared.capacity()
    }

    /// How many items are inside now, never more than the capacity.
    pub fn occupancy(&self) -> usize {
        self.shared.occupancy()
    }

    #[inline]
    fn try_take(&self, count: usize) -> Credit {
        if self.place.has_left() {
            return Credit::Closed;
        }
        self.shared.try_take(count, &self.run)
    }
}

/// Another handle, with no place reserved. A clone of a sink that was closed is closed too.
impl<T, P: Passage<T>> Clone for Sender<T, P> {
    fn clone(&self) -> Self {
        if !self.place.has_left() {
            self.shared.add_sender();
        }
        Self {
            shared: Arc::clone(&self.shared),
            place: self.place.fork(),
            run: Run::new(),
        }
    }
}

impl<T, P: Passage<T>> Drop for Sender<T, P> {
    fn drop(&mut self) {
        self.place.leave(&self.shared);
    }
}

/// A channel is one place for all cores.
impl<T, P: Passage<T>> ThreadAware for Sender<T, P>
where
    P::Item: Send,
{
    fn relocate(&mut self, _source: Option<Affinity>, _destination: Affinity) {}
}

impl<T, P: Passage<T>> fmt::Debug for Sender<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("capacity", &self.capacity())
            .field("occupancy", &self.occupancy())
            .field("is_closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
