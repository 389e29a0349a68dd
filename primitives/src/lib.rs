//! State and messages between cores, for threads and any executor: signals, subscriptions, topics,
//! channels, rings, lanes, and the sleep and wake under them.
//!
//! Nothing here knows an executor: whoever waits hands in a [`Waker`](std::task::Waker), or blocks
//! its thread. One set of tests runs on Corelane's shards, in its simulation, on current-thread
//! Tokio runtimes, on glommio's executors and on plain threads.
//!
//! | you have | take |
//! |---|---|
//! | a value of which only the latest counts, for all to read | [`Signal`] |
//! | a value whose every change counts to somebody | [`Subscription`] |
//! | messages that each subscriber gets | [`Topic`] |
//! | work from many to one, in a fair line when it is full | [`channel()`] |
//! | the same, from producers that are refused when it is full | [`Ring`], [`Ring64`] |
//! | one producer and one consumer | [`lane()`] |
//!
//! Calls by `try_`, and `push` and `pop` of rings and lanes, answer at once and hand back what they
//! refuse. Async ones wait in a task; `blocking_` ones put a plain thread to sleep, and are not for
//! a thread with an executor.
//!
//! Handles ([`Signal`], [`Subscription`], [`Topic`], [`Sender`], [`Ring`]) are `Send` and may be
//! cloned; what they stand for is closed by `close`, or when the last one goes. A weak handle
//! (`downgrade`) does not count. A [`Receiver`] and the consumers are one each and may be sent to
//! another thread. A feed ([`Feed`], [`Changes`]) stays on the thread that made it, since those of
//! one thread share their work; `detach` makes one that is `Send`, as Tokio's `spawn` wants it.
//!
//! # Lanes
//!
//! A lane, made by [`lane()`], is a bounded ring between one [`Producer`] and one [`Consumer`]. Use
//! it where exactly two parties pass values one way, such as two shards; more senders take one lane
//! each. It keeps order, loses nothing, and says [`Full`] with the value when the consumer is a
//! whole ring behind.
//!
//! ```
//! use corelane_primitives::lane;
//!
//! // Numbers go through three threads: made, squared, summed up.
//! let (mut numbers, mut to_square) = lane(64);
//! let (mut squares, mut to_sum) = lane(64);
//! let sum = std::thread::scope(|scope| {
//!     scope.spawn(move || {
//!         for number in 0..1_000_u64 {
//!             numbers.blocking_send(number).expect("the next stage is there");
//!         }
//!     });
//!     scope.spawn(move || {
//!         while let Some(number) = to_square.blocking_recv() {
//!             squares.blocking_send(number * number).expect("the next stage is there");
//!         }
//!     });
//!     std::iter::from_fn(|| to_sum.blocking_recv()).sum::<u64>()
//! });
//! assert_eq!(sum, 332_833_500);
//! ```
//!
//! A stage that ends drops its producer, and the next one finds the end behind the last value; one
//! that breaks drops its consumer, and the one before it gets its value back.
//!
//! Each end has four ways to work:
//!
//! - One by one, [`push`](Producer::push) and [`pop`](Consumer::pop): one store each, and seldom a
//!   load of the other end's line.
//! - Many as one, [`push_batch`](Producer::push_batch) and [`write_chunk`](Producer::write_chunk),
//!   [`pop_batch`](Consumer::pop_batch) and [`read_chunk`](Consumer::read_chunk): the same for the
//!   whole batch.
//! - Waiting in a task, [`send`](Producer::send) and [`room`](Producer::room),
//!   [`recv`](Consumer::recv) and [`ready`](Consumer::ready), or their polls: a fence besides, and
//!   a wake if the other end sleeps.
//! - Waiting on a thread, [`blocking_send`](Producer::blocking_send) and
//!   [`blocking_recv`](Consumer::blocking_recv), [`blocking_room`](Producer::blocking_room) and
//!   [`blocking_ready`](Consumer::blocking_ready): the same, asleep in the kernel.
//!
//! **The first two are wait-free and never wake anybody.** Where the other end waits, in a task or
//! on a thread, a push or a pop alone leaves it asleep: call [`Producer::notify`] or
//! [`Consumer::notify`] once after a batch, which costs a fence and a load when that end is awake.
//! Sending and receiving, and leaving, notify by themselves. An end that goes to sleep itself
//! announces first what it left unsaid, so two ends never sleep on each other. Memory is `capacity`
//! slots and 768 bytes, allocated once.
//!
//! # Rings
//!
//! A [`Ring`] is for many producers and one consumer, and values of any type. All handles push into
//! one order. A full ring refuses and counts ([`Ring::push`]), or makes the push wait its turn, for
//! as long as it may ([`Ring::push_wait`], [`Ring::blocking_push`]). Room can be taken before the
//! value is there ([`Ring::claim`]).
//!
//! ```
//! use corelane_primitives::Ring;
//! use std::time::Duration;
//!
//! let (ring, mut consumer) = Ring::new(256);
//! std::thread::scope(|scope| {
//!     for producer in 0..4 {
//!         let ring = ring.clone();
//!         scope.spawn(move || {
//!             for number in 0..100 {
//!                 let line = format!("{producer}: {number}");
//!                 ring.blocking_push(line, Duration::MAX).expect("the consumer is there");
//!             }
//!         });
//!     }
//!     drop(ring); // the last handle that goes ends the ring
//!     let mut lines = 0;
//!     while consumer.blocking_ready() {
//!         lines += consumer.fold(256, 0, |count, _line: String| count + 1).acc;
//!     }
//!     assert_eq!(lines, 400);
//! });
//! ```
//!
//! Pushing, publishing and taking wake whoever sleeps at the other side by themselves; that costs a
//! fence each, so [`RingConsumer::fold`] and [`RingConsumer::pop_batch`] are cheaper than single
//! pops. A claim that is dropped leaves a tombstone; one that is forgotten, or whose thread stands
//! still, holds the values behind it back until somebody steps over it, and comes too late then
//! ([`SteppedOver`]). A ring counts all of that, and tells its [peak](Ring::peak) and how old a
//! value can get in it ([`Ring::age_bound`]). What has a timeout in a task needs the host's
//! [`Timers`].
//!
//! A [`Ring64`] carries 64-bit integers, packed events for instance, and does without the fence
//! while its consumer is busy; [`Shards64`] is several of them in front of one consumer, for
//! producers that would meet too often. A [`RingChannel`] is a ring with its handler's task.
//!
//! ```
//! use corelane_primitives::{PushError, Ring64};
//!
//! let (ring, mut consumer) = Ring64::new(4);
//! for value in 1..=4 {
//!     assert_eq!(ring.push(value), Ok(()));
//! }
//! assert_eq!(ring.push(5), Err(PushError::Full(5)));
//! let folded = consumer.fold(256, 0, |sum, value| sum + value);
//! assert_eq!((folded.acc, ring.refused(), ring.popped()), (10, 1, 4));
//! ```
//!
//! # Channels
//!
//! A channel, made by [`channel()`], brings work from many [`Sender`]s to one [`Receiver`], in one
//! order. Its capacity is exact and any number. Who finds it full waits and is served in the order
//! of coming, in a task ([`Sender::send`], or as a `Sink`) or on a thread
//! ([`Sender::blocking_send`]); places can be taken before the values are there
//! ([`Sender::reserve`]). The receiver is a `Stream`, and cheapest where it drains
//! ([`Receiver::fold`], [`Receiver::recv_batch`]). The channel closes when either side says so,
//! when the receiver goes, or when the last sender goes; what is inside is received, and then it
//! ends. [`ChannelBuilder::relocating`] tells items of their move.
//!
//! ```
//! use corelane_primitives::channel;
//!
//! let (sender, mut receiver) = channel(100);
//! std::thread::scope(|scope| {
//!     for part in 0..4 {
//!         let sender = sender.clone();
//!         scope.spawn(move || {
//!             for number in part * 1_000..(part + 1) * 1_000 {
//!                 sender.blocking_send(number).expect("the receiver is there");
//!             }
//!         });
//!     }
//!     drop(sender); // the last handle that goes ends the channel
//!     let mut sum = 0_u64;
//!     while receiver.blocking_ready() {
//!         sum = receiver.fold(256, sum, |sum, number| sum + number).acc;
//!     }
//!     assert_eq!(sum, 7_998_000);
//! });
//! ```
//!
//! A ring with handles and counts of its own is a [`Ring`], whose claims are stepped over when
//! nobody publishes them; a channel has an exact capacity, permits and one fair line of those who
//! wait.
//!
//! # Signals
//!
//! A [`Signal`] is the latest value for everybody: any thread sets it, any thread reads it, and its
//! feeds ([`Changes`]) skip to the latest. Nobody ever waits for anybody. [`Signal::new`] takes any
//! type; [`Signal::plain`] keeps up to 64 bytes without pointers in place, where a set allocates
//! nothing.
//!
//! A reader that looks often makes a [`Replica`] ([`Signal::replica`]): one load tells it whether
//! the value that it keeps is still the latest, and [`Replica::look`] lends it without a count. Of
//! a plain signal each replica has a copy of its own, so that [`Replica::get`] on one core writes
//! to no line of another.
//!
//! A [`Subscription`] reads as a signal does, but its feeds get every change, without a gap behind
//! the value that they start with. [`Overflow`] says what happens when one is full: by default the
//! writer waits.
//!
//! ```
//! use corelane_primitives::Signal;
//! use std::time::Duration;
//!
//! let config = Signal::new(String::from("first"));
//! std::thread::scope(|scope| {
//!     let readers: Vec<_> = (0..4)
//!         .map(|_| {
//!             let config = config.clone();
//!             scope.spawn(move || {
//!                 let mut feed = config.changes(); // made on the thread that reads it
//!                 drop(config); // a handle less that keeps the signal open
//!                 std::iter::from_fn(|| feed.blocking_next(Duration::MAX).ok()).last()
//!             })
//!         })
//!         .collect();
//!     config.set("second".into()).expect("it is open");
//!     config.close_with("last".into()).expect("it is open");
//!     for reader in readers {
//!         // It may have skipped the others; the last value comes in any case.
//!         assert_eq!(reader.join().expect("it does not panic").as_deref(), Some("last"));
//!     }
//! });
//! ```
//!
//! # Topics
//!
//! A [`Topic`] sends every message to all: each [`Feed`] gets what is published after it was made,
//! on every shard in one order. One publish costs one append to a log that all shards read in
//! place, however many feeds there are. What happens to a feed that is full is the topic's choice,
//! or the feed's own ([`TopicOverflow`]): the publisher waits, or the feed loses its newest or its
//! oldest value, which it counts. Where each publisher's own order is enough, publishing shards
//! have a log each ([`Order::PerPublisher`]).
//!
//! ```
//! use corelane_primitives::{Topic, TopicOverflow};
//! use std::time::Duration;
//!
//! let topic = Topic::new(256, TopicOverflow::Backpressure);
//! let sums: Vec<u64> = std::thread::scope(|scope| {
//!     let readers: Vec<_> = (0..3)
//!         .map(|_| {
//!             let mut feed = topic.subscribe().detach();
//!             scope.spawn(move || {
//!                 std::iter::from_fn(|| feed.blocking_next(Duration::MAX).ok()).sum()
//!             })
//!         })
//!         .collect();
//!     for value in 0..1_000 {
//!         topic.blocking_publish(value, Duration::MAX).expect("the topic is open");
//!     }
//!     topic.close();
//!     readers.into_iter().map(|reader| reader.join().expect("no reader panics")).collect()
//! });
//! assert_eq!(sums, [499_500; 3]);
//! ```
//!
//! # Cancel safety
//!
//! A future of this crate may be dropped at any await point, by a timeout or a `select`. One that
//! takes ([`recv`](Receiver::recv), [`next`](Feed::next), [`room`](Producer::room)) takes in the
//! poll that completes, and nothing before. One that gives ([`send`](Sender::send),
//! [`push_wait`](Ring::push_wait), [`publish`](Topic::publish), [`set`](Subscription::set)) gives
//! in the poll that completes; dropped before, it has given nothing, holds up nobody, and drops its
//! value. To keep the value, take the room first: [`Sender::reserve`], [`Ring::claim`],
//! [`Producer::room`]. [`Topic::publish_batch`] keeps what it has published. None of them is woken
//! afterwards.
//!
//! # Sleep and wake
//!
//! [`SleepWord`] is the protocol alone, for an owner that blocks in its own way (a shard in its
//! driver); [`Parker`] adds the place for a waker, for tasks.
#![deny(unsafe_code)]

mod block;
mod channel;
mod claim;
mod control;
mod drain;
mod error;
mod feed;
mod fold;
mod lane;
#[cfg(corelane_loom)]
#[doc(hidden)]
pub mod model;
mod pad;
mod panics;
mod park;
mod push_wait;
mod ring64;
mod ring_error;
mod signal;
mod subscription;
mod sync;
mod timers;
mod topic;
mod waiters;

pub use channel::{
    AsIs, ChannelBuilder, ChannelError, Passage, Permits, Receiver, RecvError, Relocating,
    SendError, Sender, WeakSender, channel,
};
pub use claim::{Claim, Ring, RingBuilder, RingConsumer};
pub use error::{Closed, Full};
pub use feed::{DetachedFeed, Feed, FeedError, FeedStats, NextError};
pub use fold::Folded;
#[doc(hidden)]
pub use lane::lane_with_start;
pub use lane::{Consumer, LaneError, Producer, ReadChunk, WriteChunk, lane, try_lane};
pub use park::{Epoch, Parker, SleepWord};
pub use ring_error::{PushError, RingError, SteppedOver};
pub use ring64::{
    Claim64, ClaimError, Consumer64, HandlerPanic, Ring64, Ring64Builder, RingChannel,
    RingChannelBuilder, RingChannelRun, RingChannelTask, Shards64,
};
pub use signal::{
    Changes, DetachedChanges, Plain, PlainSignal, Replica, Shared, Signal, SignalStats, Version,
    WeakSignal,
};
pub use subscription::{
    Overflow, SetError, Subscription, SubscriptionError, SubscriptionStats, TrySetError,
    WeakSubscription,
};
pub use timers::{TimerId, Timers};
pub use topic::{Order, Topic, TopicError, TopicOverflow, TopicStats, TryPublishError, WeakTopic};

/// What the tests of this crate ask of its inner parts. No part of the public interface.
#[doc(hidden)]
pub mod parts {
    pub use crate::claim::FirstSight;
    pub use crate::waiters::{WaitList, Waiter};
}
