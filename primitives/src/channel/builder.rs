//! Making a channel, and its settings.

use super::passage::{AsIs, Passage, Relocating};
use super::receiver::Receiver;
use super::sender::Sender;
use super::shared::Shared;
use crate::ChannelError;
use crate::sync::Arc;
use crate::timers::Timers;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc as StdArc;
use thread_aware::ThreadAware;

/// Makes a channel for `capacity` items, with all their slots allocated now.
///
/// # Panics
///
/// If `capacity` is not from 1 to 2^31, or if there is no memory. [`ChannelBuilder::build`] tells
/// the same by an error.
///
/// ```
/// use corelane_primitives::{RecvError, SendError, channel};
///
/// let (sender, mut receiver) = channel(2);
/// assert_eq!(sender.try_send("a"), Ok(()));
/// assert_eq!(sender.try_send("b"), Ok(()));
/// assert_eq!(sender.try_send("c"), Err(SendError::Full("c")));
/// assert_eq!(receiver.try_recv(), Ok("a"));
/// drop(sender);
/// assert_eq!(receiver.try_recv(), Ok("b"));
/// assert_eq!(receiver.try_recv(), Err(RecvError::Closed));
/// ```
pub fn channel<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    match ChannelBuilder::new(capacity).build() {
        Ok(ends) => ends,
        Err(error) => panic!("{error}"),
    }
}

/// Makes a channel that is not made like most.
///
/// ```
/// use corelane_primitives::{ChannelBuilder, ChannelError};
///
/// let (sender, receiver) = ChannelBuilder::<u32>::new(100).build()?;
/// assert_eq!(sender.capacity(), 100);
/// # drop(receiver);
/// assert_eq!(
///     ChannelBuilder::<u32>::new(0).build().err(),
///     Some(ChannelError::Capacity(0))
/// );
/// # Ok::<(), ChannelError>(())
/// ```
#[must_use = "a builder makes nothing before `build`"]
pub struct ChannelBuilder<T, P: Passage<T> = AsIs> {
    capacity: usize,
    timers: Option<StdArc<dyn Timers>>,
    items: PhantomData<fn() -> (T, P)>,
}

impl<T> ChannelBuilder<T> {
    /// A channel for `capacity` items, any number from 1 to 2^31. Slots are a power of two.
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            timers: None,
            items: PhantomData,
        }
    }

    /// Relocates each item where it is received: from the affinity of the thread that sent it to
    /// that of the thread that takes it. Items pass as they are unless set.
    ///
    /// ```
    /// use corelane_primitives::ChannelBuilder;
    /// use std::rc::Rc;
    /// use thread_aware::affinity::{enter, pinned_affinities};
    /// use thread_aware::{ThreadAware, affinity::Affinity};
    ///
    /// struct Parcel(Option<Affinity>);
    ///
    /// impl ThreadAware for Parcel {
    ///     fn relocate(&mut self, _source: Option<Affinity>, destination: Affinity) {
    ///         self.0 = Some(destination);
    ///     }
    /// }
    ///
    /// let cores = pinned_affinities(&[2]);
    /// let (sender, mut receiver) = ChannelBuilder::new(8).relocating().build()?;
    /// assert!(sender.try_send(Parcel(None)).is_ok());
    /// let entered = enter(cores[1], Rc::new(()));
    /// assert_eq!(receiver.try_recv().map(|parcel| parcel.0), Ok(Some(cores[1])));
    /// # drop(entered);
    /// # Ok::<(), corelane_primitives::ChannelError>(())
    /// ```
    pub fn relocating(self) -> ChannelBuilder<T, Relocating>
    where
        T: ThreadAware,
    {
        ChannelBuilder {
            capacity: self.capacity,
            timers: self.timers,
            items: PhantomData,
        }
    }
}

impl<T, P: Passage<T>> ChannelBuilder<T, P> {
    /// The clock and timers of the host, which [`Sender::send_timeout`] needs: none unless set.
    pub fn timers(mut self, timers: StdArc<dyn Timers>) -> Self {
        self.timers = Some(timers);
        self
    }

    /// Makes the channel: a sender, which may be cloned, and its one receiver.
    ///
    /// # Errors
    ///
    /// [`ChannelError::Capacity`] unless the capacity is from 1 to 2^31, [`ChannelError::Memory`]
    /// if the slots cannot be allocated.
    #[expect(
        clippy::type_complexity,
        reason = "the two ends, as every channel has them"
    )]
    pub fn build(self) -> Result<(Sender<T, P>, Receiver<T, P>), ChannelError> {
        let (shared, consumer) = Shared::new(self.capacity, self.timers)?;
        let shared = Arc::new(shared);
        let receiver = Receiver::new(Arc::clone(&shared), consumer);
        Ok((Sender::new(shared), receiver))
    }
}

impl<T, P: Passage<T>> fmt::Debug for ChannelBuilder<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChannelBuilder")
            .field("capacity", &self.capacity)
            .field("has_timers", &self.timers.is_some())
            .finish_non_exhaustive()
    }
}
