//! A feed's seats on all logs of its source, and where it waits for them.

use super::cursor::Cursor;
use super::local::After;
use super::log::Log;
use super::settings::TopicOverflow;
use crate::feed::{Detached, FeedStats, OnShard};
use crate::panics::Panics;
use crate::park::{Bells, How, Seat};
use std::sync::Arc;
use std::task::{Context, Poll};

pub(crate) struct Cursors<T, P> {
    all: Box<[Cursor<T>]>,
    /// Whose turn it is.
    first: usize,
    seat: Seat<P>,
    bells: Arc<Bells>,
}

impl<T: Clone + Send + Sync> Cursors<T, OnShard> {
    /// Seats for the calling thread.
    pub(crate) fn subscribe<'a>(
        logs: impl Iterator<Item = &'a Arc<Log<T>>>,
        bells: &Arc<Bells>,
        capacity: usize,
        overflow: TopicOverflow,
    ) -> Self
    where
        T: 'a,
    {
        let mut panics = Panics::default();
        let mut news = false;
        let all = logs.map(|log| {
            let (cursor, after) = log.subscribe(capacity, overflow);
            news |= after.news;
            panics.run(|| after.run(log));
            cursor
        });
        let mut cursors = Self {
            all: all.collect(),
            first: 0,
            seat: Seat::here(bells),
            bells: Arc::clone(bells),
        };
        if news {
            panics.run(|| cursors.found());
        }
        panics.resume();
        cursors
    }

    /// The same with parts of its own on each log, and a bell of its own.
    pub(crate) fn detach(mut self) -> Cursors<T, Detached> {
        self.stop_waiting();
        let all = std::mem::take(&mut self.all).into_iter();
        let detached = Cursors {
            all: all.map(Cursor::detach).collect(),
            first: self.first,
            seat: Seat::alone(&self.bells),
            bells: Arc::clone(&self.bells),
        };
        // What was copied on the way, others may wait for.
        self.seat.found(&self.bells, || news(&detached.all));
        drop(self); // may panic, and is not to meet a returned value then
        detached
    }
}

/// A number that grows with each append to one of the logs, and with each end.
fn news<T>(cursors: &[Cursor<T>]) -> u64 {
    cursors.iter().map(|cursor| cursor.log.news()).sum()
}

impl<T, P> Cursors<T, P> {
    /// Takes back a wait that returned Pending, and hands the duty on.
    pub(crate) fn stop_waiting(&mut self) {
        self.seat.stop_waiting(&self.bells, || news(&self.all));
    }

    pub(crate) fn stats(&self) -> FeedStats {
        let mut sum = FeedStats::default();
        for stats in self.all.iter().map(Cursor::stats) {
            sum.delivered += stats.delivered;
            sum.dropped += stats.dropped;
            sum.lag += stats.lag;
        }
        sum
    }

    /// Waits no more, and wakes who waits for what was copied.
    fn found(&mut self) {
        self.seat.found(&self.bells, || news(&self.all));
    }

    /// Does what is left to be done after a look at one log.
    fn finish(&mut self, at: usize, after: &After, is_ready: bool) {
        let has_found = after.news || (is_ready && self.seat.waits());
        if !has_found {
            return after.run(&self.all[at].log);
        }
        let mut panics = Panics::default();
        panics.run(|| self.found());
        panics.run(|| after.run(&self.all[at].log));
        panics.resume();
    }
}

impl<T: Clone + Send + Sync, P> Cursors<T, P> {
    /// The next value; `Err` says whether there will never be one.
    pub(crate) fn try_next(&mut self) -> Result<T, bool> {
        self.try_each(Cursor::try_next)
    }

    /// The next value, or `None` at the end; parks the task otherwise.
    pub(crate) fn poll_next(&mut self, how: How, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.poll_each(how, cx, Cursor::try_next)
    }

    /// The next values of one log, up to `max`, at the end of `out`: how many, or `None` at the
    /// end; parks the task otherwise.
    pub(crate) fn poll_batch(
        &mut self,
        how: How,
        cx: &mut Context<'_>,
        out: &mut Vec<T>,
        max: usize,
    ) -> Poll<Option<usize>> {
        self.poll_each(how, cx, |cursor| cursor.try_batch(out, max))
    }

    /// Shows the next values of one log, up to `max`, to `visit`, which does not panic: how many.
    /// `Err` says whether there will never be one.
    pub(crate) fn try_visit(
        &mut self,
        max: usize,
        mut visit: impl FnMut(&T),
    ) -> Result<usize, bool> {
        self.try_each(|cursor| cursor.try_visit(max, &mut visit))
    }

    /// The same, or `None` at the end; parks the task if there is none now.
    pub(crate) fn poll_visit(
        &mut self,
        how: How,
        cx: &mut Context<'_>,
        max: usize,
        mut visit: impl FnMut(&T),
    ) -> Poll<Option<usize>> {
        self.poll_each(how, cx, |cursor| cursor.try_visit(max, &mut visit))
    }

    /// Asks each log once, beginning with the one whose turn it is.
    fn try_each<R>(
        &mut self,
        mut take: impl FnMut(&mut Cursor<T>) -> (Result<R, bool>, After),
    ) -> Result<R, bool> {
        let mut ended = true;
        for _ in 0..self.all.len() {
            let at = self.first;
            self.first = at + 1;
            if self.first == self.all.len() {
                self.first = 0;
            }
            let (taken, after) = take(&mut self.all[at]);
            self.finish(at, &after, taken.is_ok());
            match taken {
                Ok(taken) => return Ok(taken),
                Err(has_ended) => ended &= has_ended,
            }
        }
        if ended && self.seat.waits() {
            self.found();
        }
        Err(ended)
    }

    /// Asks each log, then parks and asks once more.
    fn poll_each<R>(
        &mut self,
        how: How,
        cx: &mut Context<'_>,
        mut take: impl FnMut(&mut Cursor<T>) -> (Result<R, bool>, After),
    ) -> Poll<Option<R>> {
        match self.try_each(&mut take) {
            Ok(taken) => return Poll::Ready(Some(taken)),
            Err(true) => return Poll::Ready(None),
            Err(false) => {}
        }
        let seen = self.all.iter().map(Cursor::seen).sum();
        if !self.seat.wait(how, cx.waker(), seen, &self.bells) {
            return Poll::Pending; // another feed waits for all
        }
        // Partner of the parked mark's fence: whoever appended before it saw nobody parked.
        match self.try_each(take) {
            Ok(taken) => Poll::Ready(Some(taken)),
            Err(true) => Poll::Ready(None),
            Err(false) => {
                // One log may have ended on the way, which ends no wait.
                if !self.seat.waits() {
                    cx.waker().wake_by_ref();
                }
                Poll::Pending
            }
        }
    }
}

impl<T, P> Drop for Cursors<T, P> {
    fn drop(&mut self) {
        let mut panics = Panics::default();
        panics.run(|| self.stop_waiting());
        panics.run(|| self.seat.leave(&self.bells));
        panics.resume();
    }
}
