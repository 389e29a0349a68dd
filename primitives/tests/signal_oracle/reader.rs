//! One feed and its oracle.

use crate::bell::{Bell, bell};
use crate::kinds::{AnyFeed, Wait};
use corelane_primitives::NextError;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// Turns that a feed lets pass at most when its writer is faster; it wakes itself then.
const RESTS_MAX: usize = 16;

/// What everybody knows of the signal.
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
    start: u64,
    next: u64,
    delivered: u64,
    ended: bool,
    /// Whether its last poll was Pending, and nothing took that back.
    waits: bool,
    /// Rings that were seen.
    seen: usize,
}

impl Reader {
    pub(crate) fn new(feed: Box<dyn AnyFeed>, now: Now) -> Self {
        let (bell, waker) = bell();
        Self {
            place: Place::Here(feed),
            is_detached: false,
            bell,
            waker,
            start: now.version,
            next: now.version,
            delivered: 0,
            ended: false,
            waits: false,
            seen: 0,
        }
    }

    pub(crate) fn is_woken(&self) -> bool {
        self.bell.rings() > self.seen
    }

    pub(crate) fn has_news(&self, now: Now) -> bool {
        now.version >= self.next || now.is_closed
    }

    fn stops_waiting(&mut self) {
        self.waits = false;
        self.seen = self.bell.rings();
    }

    /// What a look must find.
    fn found(&mut self, now: Now) -> Result<u64, NextError> {
        if now.version >= self.next {
            self.next = now.version + 1;
            self.delivered += 1;
            return Ok(now.number);
        }
        if now.is_closed {
            self.ended = true;
            return Err(NextError::Closed);
        }
        Err(NextError::Empty)
    }

    /// The feed has polled, and answers.
    fn polled(&mut self, polled: Poll<Option<u64>>, now: Now) {
        self.seen = self.bell.rings();
        self.waits = polled.is_pending();
        let answer = match polled {
            Poll::Ready(Some(number)) => Ok(number),
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

    /// As a stream, or the future that it is in, until it has looked.
    pub(crate) fn poll(&mut self, now: Now) {
        for _ in 0..=RESTS_MAX {
            let rings = self.bell.rings();
            let polled = self.poll_once();
            if polled.is_ready() || self.bell.rings() == rings {
                return self.polled(polled, now);
            }
        }
        panic!("a feed rests for some turns only");
    }

    fn poll_once(&mut self) -> Poll<Option<u64>> {
        let waker = self.waker.clone();
        let mut cx = Context::from_waker(&waker);
        match std::mem::replace(&mut self.place, Place::Between) {
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
        }
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
        let rings = self.bell.rings();
        let polled = feed.poll_and_drop(&mut Context::from_waker(&waker), polls);
        if polls > 0 {
            let rested = polled.is_pending() && self.bell.rings() > rings;
            if !rested {
                self.polled(polled, now);
            }
            self.stops_waiting();
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

    /// Its counts are whole, and it is never woken unless it waits and there is news.
    pub(crate) fn check(&self, now: Now) {
        let may_be_woken = self.waits && self.has_news(now);
        assert!(may_be_woken || !self.is_woken(), "woken for nothing");
        let Place::Here(feed) = &self.place else {
            return;
        };
        let stats = feed.stats();
        let news = (now.version + 1).saturating_sub(self.next);
        assert_eq!((stats.delivered, stats.lag), (self.delivered, news.min(1)));
        assert_eq!(
            stats.delivered + stats.dropped + stats.lag,
            now.version + 1 - self.start
        );
        assert_eq!(feed.is_terminated(), self.ended);
    }

    pub(crate) fn waits(&self) -> bool {
        self.waits
    }
}
