//! Both kinds of signal behind one face, with numbers for values.

use corelane_primitives::{
    Changes, DetachedChanges, FeedStats, NextError, Plain, PlainSignal, Replica, Shared, Signal,
    SignalStats,
};
use futures_core::{FusedStream, Stream};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

/// A value that shows by its count whether all of its copies are gone. Each has what the first had.
#[derive(Clone)]
pub(crate) struct Token(pub(crate) u64, pub(crate) Option<Arc<()>>);

/// A value of a signal, made from another one.
trait Value {
    fn number(&self) -> u64;
    fn with(&self, number: u64) -> Self;
}

impl Value for Token {
    fn number(&self) -> u64 {
        self.0
    }
    fn with(&self, number: u64) -> Self {
        Self(number, self.1.clone())
    }
}

impl Value for u64 {
    fn number(&self) -> u64 {
        *self
    }
    fn with(&self, number: u64) -> Self {
        number
    }
}

/// A future that has its feed, and gives it back.
pub(crate) type Wait = Pin<Box<dyn Future<Output = (Box<dyn AnyFeed>, Option<u64>)>>>;

/// A handle that does not keep its signal open.
pub(crate) type Weak = Box<dyn Fn() -> Option<Box<dyn AnySignal>>>;

pub(crate) trait AnySignal {
    fn set(&self, number: u64) -> Result<u64, u64>;
    fn set_eventually(&self, number: u64) -> Result<(), u64>;
    /// Updates to `number`, with a set of `between` in the middle of the first attempt; how often
    /// the function ran besides.
    fn update(&self, number: u64, between: Option<u64>) -> (Option<u64>, usize);
    fn close(&self);
    fn close_with(&self, number: u64) -> Result<u64, u64>;
    fn is_closed(&self) -> bool;
    /// Version and number, by every way to read.
    fn read(&self) -> (u64, u64);
    fn snapshot(&self) -> Box<dyn Fn() -> u64>;
    fn replica(&self) -> Box<dyn AnyReplica>;
    fn changes(&self) -> Box<dyn AnyFeed>;
    fn another(&self) -> Box<dyn AnySignal>;
    fn downgrade(&self) -> Weak;
    fn stats(&self) -> SignalStats;
}

pub(crate) trait AnyReplica {
    /// Version, number, and whether that is the last one, by every way to look.
    fn look(&mut self) -> (u64, u64, bool);
    fn another(&self) -> Box<dyn AnyReplica>;
}

pub(crate) trait AnyFeed {
    fn try_next(&mut self) -> Result<u64, NextError>;
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<u64>>;
    /// Polls a future `polls` times at most, and drops it.
    fn poll_and_drop(&mut self, cx: &mut Context<'_>, polls: usize) -> Poll<Option<u64>>;
    fn wait(self: Box<Self>) -> Wait;
    fn stats(&self) -> FeedStats;
    fn is_terminated(&self) -> bool;
    fn detach(self: Box<Self>) -> Box<dyn AnyFeed>;
}

macro_rules! any_signal {
    ($signal:ty) => {
        impl AnySignal for $signal {
            fn set(&self, number: u64) -> Result<u64, u64> {
                let set = Self::set(self, self.read(|value| value.with(number)));
                set.map(|version| version.number())
                    .map_err(|closed| closed.0.number())
            }

            fn set_eventually(&self, number: u64) -> Result<(), u64> {
                let set = Self::set_eventually(self, self.read(|value| value.with(number)));
                set.map_err(|closed| closed.0.number())
            }

            fn update(&self, number: u64, between: Option<u64>) -> (Option<u64>, usize) {
                let mut runs = 0;
                let updated = Self::update(self, |value| {
                    runs += 1;
                    if let Some(between) = between.filter(|_| runs == 1) {
                        assert!(AnySignal::set(self, between).is_ok());
                    }
                    value.with(number)
                });
                (updated.ok().map(|version| version.number()), runs)
            }

            fn close(&self) {
                Self::close(self);
            }

            fn close_with(&self, number: u64) -> Result<u64, u64> {
                let closed = Self::close_with(self, self.read(|value| value.with(number)));
                closed
                    .map(|version| version.number())
                    .map_err(|closed| closed.0.number())
            }

            fn is_closed(&self) -> bool {
                Self::is_closed(self)
            }

            fn read(&self) -> (u64, u64) {
                let read = self.read_versioned(|version, value| (version.number(), value.number()));
                assert_eq!(self.version().number(), read.0);
                assert_eq!(self.get().number(), read.1);
                assert_eq!(self.get_cloned().number(), read.1);
                assert_eq!(Self::read(self, Value::number), read.1);
                read
            }

            fn snapshot(&self) -> Box<dyn Fn() -> u64> {
                let kept = self.get();
                Box::new(move || kept.number())
            }

            fn replica(&self) -> Box<dyn AnyReplica> {
                Box::new(Self::replica(self))
            }

            fn changes(&self) -> Box<dyn AnyFeed> {
                Box::new(Self::changes(self))
            }

            fn another(&self) -> Box<dyn AnySignal> {
                Box::new(self.clone())
            }

            fn downgrade(&self) -> Weak {
                let weak = Self::downgrade(self);
                Box::new(move || weak.clone().upgrade().map(|signal| Box::new(signal) as _))
            }

            fn stats(&self) -> SignalStats {
                Self::stats(self)
            }
        }
    };
}

any_signal!(Signal<Token>);
any_signal!(PlainSignal<u64>);

macro_rules! any_replica {
    ($signal:ty) => {
        impl AnyReplica for Replica<$signal> {
            fn look(&mut self) -> (u64, u64, bool) {
                let (version, value) = self.look_versioned();
                let (version, number) = (version.number(), value.number());
                assert_eq!(self.get().number(), number);
                assert_eq!(self.version().number(), version);
                (version, number, self.is_closed())
            }

            fn another(&self) -> Box<dyn AnyReplica> {
                Box::new(self.clone())
            }
        }
    };
}

any_replica!(Signal<Token>);
any_replica!(PlainSignal<u64>);

macro_rules! any_feed {
    ($feed:ty, |$this:ident| $detach:expr) => {
        impl AnyFeed for $feed {
            fn try_next(&mut self) -> Result<u64, NextError> {
                Self::try_next(self).map(|value| value.number())
            }

            fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<u64>> {
                let polled = Stream::poll_next(Pin::new(self), cx);
                polled.map(|item| item.map(|value| value.number()))
            }

            fn poll_and_drop(&mut self, cx: &mut Context<'_>, polls: usize) -> Poll<Option<u64>> {
                let mut next = pin!(self.next());
                for _ in 0..polls {
                    if let Poll::Ready(item) = next.as_mut().poll(cx) {
                        return Poll::Ready(item.map(|value| value.number()));
                    }
                }
                Poll::Pending
            }

            fn wait(mut self: Box<Self>) -> Wait {
                Box::pin(async move {
                    let item = self.next().await;
                    let feed: Box<dyn AnyFeed> = self;
                    (feed, item.map(|value| value.number()))
                })
            }

            fn stats(&self) -> FeedStats {
                assert_eq!(Self::stats(self).lag, self.lag());
                Self::stats(self)
            }

            fn is_terminated(&self) -> bool {
                FusedStream::is_terminated(self)
            }

            fn detach(self: Box<Self>) -> Box<dyn AnyFeed> {
                let $this = self;
                $detach
            }
        }
    };
}

any_feed!(Changes<Token, Shared<Token>>, |this| Box::new(Changes::detach(*this)));
any_feed!(Changes<u64, Plain<u64>>, |this| Box::new(Changes::detach(*this)));
any_feed!(DetachedChanges<Token, Shared<Token>>, |this| this);
any_feed!(DetachedChanges<u64, Plain<u64>>, |this| this);
