//! The publishers' end of a topic.

use super::error::TopicError;
use super::log::{Bell, Refusal};
use super::pool::Spare;
use super::publish::{Publish, PublishBatch};
use super::settings::{CAPACITY_MAX, Order, TopicOverflow};
use super::stripes::{Stripes, Writer};
use crate::block::block_on_for;
use crate::feed::{Feed, OnShard, Source as FeedSource};
use crate::{Closed, TryPublishError};
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Weak};
use std::time::Duration;
use thread_aware::ThreadAware;
use thread_aware::affinity::Affinity;

/// How often [`Topic::try_publish`] tries while others publish at the same moment.
const ATTEMPTS_MAX: u32 = 64;

/// Every message to all: what is published goes to each feed that was there before.
///
/// A handle is cheap to clone and may be used from any thread; when the last one is gone, the topic
/// is closed. One publish costs one append to a log that all subscribed shards read in place, and
/// at most one wake for each shard that sleeps, however many feeds there are, and one for each feed
/// that sleeps as a stream. With no feed, it is accepted and dropped.
///
/// The log keeps its newest values, up to the capacity rounded up to a power of two, until others
/// take their places or the topic and its feeds are gone.
///
/// ```
/// use corelane_primitives::{NextError, Topic, TopicOverflow};
///
/// let topic = Topic::new(2, TopicOverflow::DropOldest);
/// let mut early = topic.subscribe();
/// for value in 1..=3 {
///     topic.try_publish(value).expect("such a topic is never full");
/// }
/// let mut late = topic.subscribe();
/// assert_eq!((early.try_next(), early.try_next()), (Ok(2), Ok(3)));
/// assert_eq!(early.stats().dropped, 1);
/// assert_eq!(late.try_next(), Err(NextError::Empty));
/// ```
pub struct Topic<T> {
    source: Arc<Source<T>>,
    spare: Spare,
}

/// What the handles share. Its end closes the log, which feeds may still read.
struct Source<T> {
    stripes: Stripes<T>,
    capacity: usize,
    overflow: TopicOverflow,
}

impl<T> Drop for Source<T> {
    fn drop(&mut self) {
        self.stripes.close();
    }
}

impl<T> Topic<T> {
    /// Makes a topic whose feeds may be up to `capacity` values behind; `overflow` says what
    /// happens then, unless a feed wants something else.
    ///
    /// Memory is 8 bytes a value of the capacity now, and later a value and 16 bytes for each that
    /// the log keeps: the capacity, and once more for each part of a shard that drops.
    ///
    /// # Panics
    ///
    /// If `capacity` is not from 1 to 2^20. [`try_new`](Self::try_new) tells the same by an error.
    pub fn new(capacity: usize, overflow: TopicOverflow) -> Self {
        match Self::try_new(capacity, overflow) {
            Ok(topic) => topic,
            Err(error) => panic!("{error}"),
        }
    }

    /// Makes a topic as [`new`](Self::new) does, or tells why that cannot be.
    ///
    /// # Errors
    ///
    /// [`TopicError::Capacity`] unless `capacity` is from 1 to 2^20.
    pub fn try_new(capacity: usize, overflow: TopicOverflow) -> Result<Self, TopicError> {
        if !(1..=CAPACITY_MAX).contains(&capacity) {
            return Err(TopicError::Capacity(capacity));
        }
        let source = Source {
            stripes: Stripes::one(capacity),
            capacity,
            overflow,
        };
        Ok(Self::of(Arc::new(source)))
    }

    /// Sets the order in which feeds get the values of several publishers. The default is
    /// [`Order::Total`].
    ///
    /// # Panics
    ///
    /// If the topic is in use: it has a second handle, a weak one or a feed, or had a feed.
    ///
    /// ```
    /// use corelane_primitives::{Order, Topic, TopicOverflow};
    ///
    /// let topic = Topic::new(8, TopicOverflow::Backpressure).order(Order::PerPublisher);
    /// let mut feed = topic.subscribe();
    /// for value in 0..8 {
    ///     topic.try_publish(value).expect("there is room for 8 of each publisher");
    /// }
    /// let elsewhere = topic.clone();
    /// let other = std::thread::spawn(move || elsewhere.try_publish(8));
    /// assert!(other.join().expect("it does not panic").is_ok());
    /// let mut taken = Vec::from_iter(std::iter::from_fn(|| feed.try_next().ok()));
    /// taken.retain(|value| *value != 8);
    /// assert_eq!(taken, [0, 1, 2, 3, 4, 5, 6, 7]);
    /// ```
    #[must_use]
    pub fn order(self, order: Order) -> Self {
        let handles = Arc::strong_count(&self.source) + Arc::weak_count(&self.source);
        let is_alone = handles == 1;
        assert!(
            is_alone && self.stats() == TopicStats::default(),
            "the order of a topic is set before it is used"
        );
        let capacity = self.source.capacity;
        let stripes = match order {
            Order::Total => Stripes::one(capacity),
            Order::PerPublisher => Stripes::many(capacity),
        };
        Self::of(Arc::new(Source {
            stripes,
            capacity,
            overflow: self.source.overflow,
        }))
    }

    fn of(source: Arc<Source<T>>) -> Self {
        Self {
            source,
            spare: Spare::new(),
        }
    }

    /// How many values a feed may be behind, unless it wants another number.
    pub fn capacity(&self) -> usize {
        self.source.capacity
    }

    /// What happens to a value for which a feed has no room, unless the feed wants something else.
    pub fn overflow(&self) -> TopicOverflow {
        self.source.overflow
    }

    /// Ends the topic: each feed still yields what was published, and then ends; later and waiting
    /// publishes get their values back. It needs no room, and closing twice is nothing.
    ///
    /// # Panics
    ///
    /// If a feed's or a publisher's waker does, after all others were called.
    pub fn close(&self) {
        self.source.stripes.close();
    }

    /// Whether the topic was closed, as of some moment during this call.
    pub fn is_closed(&self) -> bool {
        self.source.stripes.is_closed()
    }

    /// A handle that does not keep the topic open.
    pub fn downgrade(&self) -> WeakTopic<T> {
        WeakTopic {
            source: Arc::downgrade(&self.source),
        }
    }

    /// What the topic has counted.
    pub fn stats(&self) -> TopicStats {
        let bells = self.source.stripes.bells();
        let mut sum = TopicStats {
            control_turns: bells.turns(),
            scans: bells.scans(),
            bells: bells.bells(),
            ..TopicStats::default()
        };
        for stats in self.source.stripes.logs().map(|log| log.stats()) {
            sum.published += stats.published;
            sum.control_turns += stats.control_turns;
            sum.nodes += stats.nodes;
        }
        sum
    }

    /// Where the calling shard's publishes go.
    pub(super) fn writer(&self) -> Writer<'_, T> {
        self.source.stripes.writer(&self.spare)
    }
}

impl<T: Send + Sync> Topic<T> {
    /// Publishes `value` as soon as every feed that wants to lose nothing has room.
    ///
    /// Completes at the first poll when there is room and nobody waits for it. Publishers that wait
    /// are served in the order of their coming.
    ///
    /// # Errors
    ///
    /// [`Closed`] with the value when the topic is closed.
    ///
    /// # Cancel safety
    ///
    /// The value is published in the poll that completes. A future dropped before leaves nothing
    /// behind, holds up nobody, and drops its value.
    ///
    /// # Panics
    ///
    /// If a feed's waker does, or the drop of a value that leaves the log. The value is then
    /// published, unless it comes out of a waker of another publisher that waits.
    pub fn publish(&self, value: T) -> impl Future<Output = Result<(), Closed<T>>> {
        Publish::new(self, value)
    }

    /// Publishes `value` now, or gives it back.
    ///
    /// # Errors
    ///
    /// [`TryPublishError::Full`] when a feed that wants to lose nothing has no room,
    /// [`TryPublishError::Busy`] when there is room but others wait for it or publish at the same
    /// moment, [`TryPublishError::Closed`] when the topic is closed.
    ///
    /// # Panics
    ///
    /// As [`publish`](Self::publish).
    pub fn try_publish(&self, value: T) -> Result<(), TryPublishError<T>> {
        let writer = self.writer();
        let log = writer.log;
        if !log.room.is_idle() {
            return Err(if log.is_closed() {
                TryPublishError::Closed(value)
            } else if log.free() == 0 {
                TryPublishError::Full(value)
            } else {
                TryPublishError::Busy(value)
            });
        }
        let _bell = Bell(log);
        let appended = writer.append(value, ATTEMPTS_MAX);
        appended.map_err(|(value, refusal)| match refusal {
            Refusal::Full => TryPublishError::Full(value),
            Refusal::Closed => TryPublishError::Closed(value),
            Refusal::Busy => TryPublishError::Busy(value),
        })
    }

    /// [`publish`](Self::publish) for a plain thread: sleeps until there is room, at most
    /// `timeout`. `Duration::MAX` waits without end. Not for a task.
    ///
    /// # Errors
    ///
    /// [`TryPublishError::Full`] when the time has passed, [`TryPublishError::Closed`] when the
    /// topic is closed.
    pub fn blocking_publish(&self, value: T, timeout: Duration) -> Result<(), TryPublishError<T>> {
        let mut publish = Publish::new(self, value);
        match block_on_for(&mut publish, timeout) {
            Some(Ok(())) => Ok(()),
            Some(Err(Closed(value))) => Err(TryPublishError::Closed(value)),
            None => {
                let value = publish.into_value();
                Err(TryPublishError::Full(value.expect("it was not published")))
            }
        }
    }

    /// Publishes all of `values`, one after the other, and says how many. A shard that sleeps is
    /// woken once for all that find room together. It gives way after each 256.
    ///
    /// # Errors
    ///
    /// [`Closed`] with the first value that was not published when the topic is closed. Give
    /// `iter.by_ref()` to keep those behind it.
    ///
    /// # Cancel safety
    ///
    /// What was published stays so. Of the others, the one that waits is dropped with the future,
    /// and those behind it were not taken from the iterator.
    pub fn publish_batch<I>(&self, values: I) -> impl Future<Output = Result<usize, Closed<T>>>
    where
        I: IntoIterator<Item = T>,
        I::IntoIter: Unpin,
    {
        PublishBatch::new(self, values.into_iter())
    }
}

impl<T: Clone + Send + Sync> Topic<T> {
    /// A feed of what is published from now on, with the topic's capacity and overflow.
    ///
    /// It belongs to the calling thread. The first feed of a shard goes through the control plane,
    /// further ones of the same kind do not.
    pub fn subscribe(&self) -> Feed<T> {
        Feed::new(self.feed_source(self.source.capacity, self.source.overflow))
    }

    /// A feed with a capacity and an overflow of its own.
    ///
    /// # Errors
    ///
    /// [`TopicError::FeedCapacity`] unless `capacity` is from 1 to the topic's.
    pub fn subscribe_with(
        &self,
        capacity: usize,
        overflow: TopicOverflow,
    ) -> Result<Feed<T>, TopicError> {
        let topic = self.source.capacity;
        if !(1..=topic).contains(&capacity) {
            return Err(TopicError::FeedCapacity {
                asked: capacity,
                topic,
            });
        }
        Ok(Feed::new(self.feed_source(capacity, overflow)))
    }

    fn feed_source(&self, capacity: usize, overflow: TopicOverflow) -> FeedSource<T, OnShard> {
        FeedSource::Topic(self.source.stripes.subscribe(capacity, overflow))
    }
}

impl<T> Clone for Topic<T> {
    fn clone(&self) -> Self {
        Self::of(Arc::clone(&self.source))
    }
}

impl<T> Drop for Topic<T> {
    fn drop(&mut self) {
        self.source.stripes.end_publisher(&self.spare);
    }
}

/// A topic is one for all cores: a move changes nothing.
impl<T: Send + Sync> ThreadAware for Topic<T> {
    fn relocate(&mut self, _source: Option<Affinity>, _destination: Affinity) {}
}

impl<T> fmt::Debug for Topic<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Topic")
            .field("capacity", &self.source.capacity)
            .field("overflow", &self.source.overflow)
            .field("is_closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

/// A handle that does not keep its topic open; made by [`Topic::downgrade`].
pub struct WeakTopic<T> {
    source: Weak<Source<T>>,
}

impl<T> WeakTopic<T> {
    /// A handle, unless all others are gone.
    pub fn upgrade(&self) -> Option<Topic<T>> {
        self.source.upgrade().map(Topic::of)
    }
}

impl<T> Clone for WeakTopic<T> {
    fn clone(&self) -> Self {
        Self {
            source: Weak::clone(&self.source),
        }
    }
}

/// A topic is one for all cores: a move changes nothing.
impl<T: Send + Sync> ThreadAware for WeakTopic<T> {
    fn relocate(&mut self, _source: Option<Affinity>, _destination: Affinity) {}
}

impl<T> fmt::Debug for WeakTopic<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakTopic").finish_non_exhaustive()
    }
}

/// What a topic has counted since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopicStats {
    /// Values that were published while there was a feed.
    pub published: u64,
    /// Turns of the control plane: a shard's first feed of a kind came, or its last one went; with
    /// [`Order::PerPublisher`] one for each of 16 logs.
    pub control_turns: u64,
    /// Looks over the subscribed shards for sleeping ones, after a publish.
    pub scans: u64,
    /// Sleeping shards that were woken.
    pub bells: u64,
    /// Places for values that were ever made.
    pub nodes: u64,
}
