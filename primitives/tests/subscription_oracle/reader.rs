//! One feed and its oracle.

use crate::bell::{Bell, bell};
use crate::face::{AnyFeed, Item, Wait};
use corelane_primitives::{FeedError, NextError, Overflow};
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// What everybody knows of the subscription.
#[derive(Clone, Copy)]
pub(crate) struct Now {
    pub(crate) version: u64,
    pub(crate) number: u64,
    pub(crate) is_closed: bool,
}

enum Place {
    Here(Box<dyn AnyFeed>),
    /// In a future that was polled.
    Waiting(Wait),
    /// On its way from one to the other.
    Between,
}

pub(crate) struct Reader {
    place: Place,
    is_detached: bool,
    bell: Arc<Bell>,
    waker: Waker,
    capacity: usize,
    overflow: Overflow,
    /// The version of the first value.
    start: u64,
    /// The value that it starts with, until it was yielded.
    first: Option<u64>,
    queue: VecDeque<u64>,
    /// The last number that it has yielded, or will.
    newest: u64,
    delivered: u64,
    has_failed: bool,
    /// Whether it has yielded its error, or the last value.
    is_over: bool,
    ended: bool,
    /// Whether its last poll was Pending, and nothing took that back.
    waits: bool,
    /// Rings that were seen.
    seen: usize,
}

impl Reader {
    pub(crate) fn new(
        feed: Box<dyn AnyFeed>,
        capacity: usize,
        overflow: Overflow,
        now: Now,
    ) -> Self {
        let (bell, waker) = bell();
        Self {
            place: Place::Here(feed),
            is_detached: false,
            bell,
            waker,
            capacity,
            overflow,
            start: now.version,
            first: Some(now.number),
            queue: VecDeque::new(),
            newest: now.number,
            delivered: 0,
            has_failed: false,
            is_over: false,
            ended: false,
            waits: false,
            seen: 0,
        }
    }

    /// The room that its policy has writers wait for.
    pub(crate) fn free(&self) -> usize {
        match self.overflow {
            Overflow::Backpressure => self.capacity - self.queue.len(),
            _ => usize::MAX,
        }
    }

    /// A change was made. Whether this feed failed by it.
    pub(crate) fn offer(&mut self, number: u64) -> bool {
        if self.has_failed {
            return false;
        }
        if self.queue.len() == self.capacity {
            match self.overflow {
                Overflow::DropOldest => drop(self.queue.pop_front()),
                Overflow::Fail => {
                    self.has_failed = true;
                    return true;
                }
                _ => return false,
            }
        }
        self.queue.push_back(number);
        self.newest = number;
        false
    }

    pub(crate) fn is_woken(&self) -> bool {
        self.bell.rings() > self.seen
    }

    pub(crate) fn waits(&self) -> bool {
        self.waits
    }

    /// Whether a poll would be Ready.
    pub(crate) fn has_news(&self, now: Now) -> bool {
        !self.queue.is_empty() || self.first.is_some() || self.has_failed || now.is_closed
    }

    fn stops_waiting(&mut self) {
        self.waits = false;
        self.seen = self.bell.rings();
    }

    /// What a look must find.
    fn found(&mut self, now: Now) -> Result<u64, NextError> {
        if let Some(number) = self.first.take().or_else(|| self.queue.pop_front()) {
            self.delivered += 1;
            return Ok(number);
        }
        if self.has_failed && !self.is_over {
            self.is_over = true;
            return Err(NextError::Failed(FeedError::Overrun));
        }
        if now.is_closed && !self.is_over {
            self.is_over = true;
            // The last value, unless it had that.
            if self.newest != now.number {
                self.newest = now.number;
                self.delivered += 1;
                return Ok(now.number);
            }
        }
        if self.is_over {
            self.ended = true;
            return Err(NextError::Closed);
        }
        Err(NextError::Empty)
    }

    /// The feed has polled, and answers.
    fn polled(&mut self, polled: Poll<Item>, now: Now) {
        self.seen = self.bell.rings();
        self.waits = polled.is_pending();
        let answer = match polled {
            Poll::Ready(Some(answer)) => answer.map_err(NextError::Failed),
            Poll::Ready(None) => Err(NextError::Closed),
            Poll::Pending => Err(NextError::Empty),
        };
        assert_eq!(answer, self.found(now));
    }

    pub(crate) fn try_next(&mut self, now: Now) {
        let Place::Here(feed) = &mut self.place else {
            return;
        };
        let answer = feed.try_next();
        assert_eq!(answer, self.found(now));
        if answer != Err(NextError::Empty) {
            self.stops_waiting();
        }
    }

    /// As a stream, or the future that it is in.
    pub(crate) fn poll(&mut self, now: Now) {
        let waker = self.waker.clone();
        let mut cx = Context::from_waker(&waker);
        let polled = match std::mem::replace(&mut self.place, Place::Between) {
            Place::Here(mut feed) => {
                let polled = feed.poll_next(&mut cx);
                self.place = Place::Here(feed);
                polled
            }
            Place::Waiting(mut wait) => match wait.as_mut().poll(&mut cx) {
                Poll::Ready((feed, item)) => {
                    self.place = Place::Here(feed);
                    Poll::Ready(item)
                }
                Poll::Pending => {
                    self.place = Place::Waiting(wait);
                    Poll::Pending
                }
            },
            Place::Between => unreachable!("it is somewhere between two calls"),
        };
        self.polled(polled, now);
    }

    /// Begins to wait by a future that stays.
    pub(crate) fn wait(&mut self, now: Now) {
        match std::mem::replace(&mut self.place, Place::Between) {
            Place::Here(feed) => {
                self.place = Place::Waiting(feed.wait());
                self.poll(now);
            }
            other => self.place = other,
        }
    }

    /// By a future that goes.
    pub(crate) fn poll_and_drop(&mut self, polls: usize, now: Now) {
        let Place::Here(feed) = &mut self.place else {
            return;
        };
        let waker = self.waker.clone();
        let polled = feed.poll_and_drop(&mut Context::from_waker(&waker), polls);
        if polls > 0 {
            self.polled(polled, now);
            self.stops_waiting();
        }
    }

    /// A batch is what single polls give, up to `max`, and an error comes alone.
    pub(crate) fn batch(&mut self, max: usize, now: Now) {
        let Place::Here(feed) = &mut self.place else {
            return;
        };
        let waker = self.waker.clone();
        let (polled, taken) = feed.batch(&mut Context::from_waker(&waker), max);
        if max == 0 {
            return assert_eq!(polled, Poll::Ready(Ok(0)));
        }
        // The value that a feed starts with comes alone.
        let had_first = self.first.is_some();
        for number in &taken {
            assert_eq!(self.found(now), Ok(*number));
        }
        self.stops_waiting();
        let is_all = had_first || taken.len() == max || self.queue.is_empty();
        assert!(is_all, "more was there");
        if taken.is_empty() {
            let answer = match polled {
                Poll::Ready(Ok(count)) => {
                    assert_eq!(count, 0);
                    Err(NextError::Closed)
                }
                Poll::Ready(Err(error)) => Err(NextError::Failed(error)),
                Poll::Pending => Err(NextError::Empty),
            };
            assert_eq!(self.found(now), answer);
        } else {
            assert_eq!(polled, Poll::Ready(Ok(taken.len())));
        }
    }

    pub(crate) fn detach(&mut self) {
        match std::mem::replace(&mut self.place, Place::Between) {
            Place::Here(feed) => self.place = Place::Here(feed.detach()),
            other => return self.place = other,
        }
        if !std::mem::replace(&mut self.is_detached, true) {
            self.stops_waiting();
        }
    }

    /// Takes all that is there, and the end.
    pub(crate) fn drain(&mut self, now: Now) {
        while !self.ended {
            self.poll(now);
        }
    }

    /// Its counts are whole, and it is never woken unless it waits.
    pub(crate) fn check(&self, now: Now) {
        assert!(self.waits || !self.is_woken(), "woken without waiting");
        let Place::Here(feed) = &self.place else {
            return;
        };
        let stats = feed.stats();
        assert_eq!(stats.delivered, self.delivered);
        assert_eq!(
            stats.delivered + stats.dropped + stats.lag,
            now.version + 1 - self.start,
            "{stats:?}"
        );
        if !self.has_failed && !now.is_closed {
            let lag = self.queue.len() + usize::from(self.first.is_some());
            assert_eq!(stats.lag, lag as u64);
        }
        if self.is_over {
            assert_eq!(stats.lag, 0);
        }
        assert_eq!(feed.is_terminated(), self.ended);
    }
}
