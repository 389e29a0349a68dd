//! What a subscription's feed reads: a first value from the state, the rest from the log, and the
//! last one from the state again.

use super::gauge::{self, Gauge};
use super::settings::Overflow;
use super::state::{Core, Entry};
use crate::feed::{Detached, FeedError, FeedStats, NextError, OnShard};
use crate::panics::Panics;
use crate::park::How;
use crate::signal::Snapshot;
use crate::topic::Cursors;
use std::sync::Arc;
use std::task::{Context, Poll};

/// One feed's place in a subscription.
pub(crate) struct Reader<T, P> {
    core: Arc<Core<T>>,
    cursor: Cursors<Entry<T>, P>,
    /// The first value or the last one, which come from the state, until it was yielded.
    apart: Option<Arc<Snapshot<T>>>,
    /// The next version to be yielded, or skipped to.
    next: u64,
    delivered: u64,
    room: Option<Room<T>>,
    end: Option<End>,
    /// Whether it has yielded its error, or will next.
    has_failed: bool,
    /// Whether the last value, which the log has dropped for this feed, comes at the end after all.
    regains: bool,
}

/// Why nothing more comes.
#[derive(Clone, Copy)]
enum End {
    /// The feed has failed, and is to say so.
    Failing,
    Over,
}

/// The gauge of a feed that fails when it is full; off the list once this is dropped.
struct Room<T> {
    core: Arc<Core<T>>,
    gauge: Arc<Gauge>,
}

impl<T> Drop for Room<T> {
    fn drop(&mut self) {
        gauge::forget(&self.core.gauges, &self.gauge);
    }
}

impl<T: Send + Sync> Reader<T, OnShard> {
    pub(super) fn new(core: &Arc<Core<T>>) -> Self {
        let room = (core.overflow == Overflow::Fail).then(|| {
            // At most what there will be: the feed starts at this position or behind it.
            let limit = core.log.tail() + core.capacity as u64;
            let gauge = Arc::new(Gauge::new(limit));
            gauge::register(&core.gauges, &gauge);
            let core = Arc::clone(core);
            Room { core, gauge }
        });
        let cursor = Cursors::subscribe(
            std::iter::once(&core.log),
            &core.log.bells,
            core.capacity,
            core.overflow.of_log(),
        );
        // Only now: every later version is in the log behind the cursor.
        let first = core.state.snapshot(Arc::clone);
        Self {
            core: Arc::clone(core),
            cursor,
            next: first.mark.version.0,
            apart: Some(first),
            delivered: 0,
            room,
            end: None,
            has_failed: false,
            regains: false,
        }
    }

    /// The same with a part of the log of its own.
    pub(crate) fn detach(self) -> Reader<T, Detached> {
        Reader {
            cursor: self.cursor.detach(),
            core: self.core,
            apart: self.apart,
            next: self.next,
            delivered: self.delivered,
            room: self.room,
            end: self.end,
            has_failed: self.has_failed,
            regains: self.regains,
        }
    }
}

impl<T, P> Reader<T, P> {
    pub(crate) fn stop_waiting(&mut self) {
        self.cursor.stop_waiting();
    }

    pub(crate) fn stats(&self) -> FeedStats {
        let log = self.cursor.stats();
        let apart = u64::from(self.apart.is_some());
        // The last value that was set together with the end is in no log.
        let beside = self.core.state.snapshot(|newest| {
            let in_no_log = newest.mark.is_last && newest.mark.version.0 >= self.core.log.tail();
            u64::from(in_no_log && newest.mark.version.0 >= self.next + apart)
        });
        if self.has_failed {
            let published = 1 + log.delivered + log.dropped + log.lag + beside;
            return FeedStats {
                delivered: self.delivered,
                dropped: published - self.delivered,
                lag: 0,
            };
        }
        let to_come = match self.end {
            None => beside,
            Some(_) => 0,
        };
        FeedStats {
            delivered: self.delivered,
            dropped: log.dropped - u64::from(self.regains),
            lag: log.lag + apart + to_come,
        }
    }
}

impl<T: Clone + Send + Sync, P> Reader<T, P> {
    pub(crate) fn try_next(&mut self) -> Result<T, NextError> {
        loop {
            if let Some(answer) = self.at_hand() {
                return match answer {
                    Some(Ok(value)) => Ok(value),
                    Some(Err(error)) => Err(NextError::Failed(error)),
                    None => Err(NextError::Closed),
                };
            }
            let mut value = None;
            let look = self.look(
                |cursor, visit| cursor.try_visit(1, visit),
                |panics, news| take_one(panics, news, &mut value),
            );
            if let Some(value) = value {
                return Ok(value);
            }
            match look {
                Ok(_) => {} // the feed started with it, or has failed
                Err(true) => self.reach_end(),
                Err(false) if self.look_again() => {}
                Err(false) => return Err(NextError::Empty),
            }
        }
    }

    pub(crate) fn poll_next(
        &mut self,
        how: How,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<T, FeedError>>> {
        loop {
            if let Some(answer) = self.at_hand() {
                return Poll::Ready(answer);
            }
            let mut value = None;
            let look = self.look(
                |cursor, visit| cursor.poll_visit(how, cx, 1, visit),
                |panics, news| take_one(panics, news, &mut value),
            );
            if let Some(value) = value {
                return Poll::Ready(Some(Ok(value)));
            }
            match look {
                Poll::Ready(Some(_)) => {} // as above
                Poll::Ready(None) => self.reach_end(),
                Poll::Pending if self.look_again() => {}
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    pub(crate) fn poll_batch(
        &mut self,
        cx: &mut Context<'_>,
        out: &mut Vec<T>,
        max: usize,
    ) -> Poll<Result<usize, FeedError>> {
        let mut count = 0;
        loop {
            while count < max {
                match self.at_hand() {
                    Some(Some(Ok(value))) => {
                        out.push(value);
                        count += 1;
                    }
                    // The error comes behind what was taken.
                    Some(Some(Err(_))) if count > 0 => {
                        self.end = Some(End::Failing);
                        return Poll::Ready(Ok(count));
                    }
                    Some(Some(Err(error))) => return Poll::Ready(Err(error)),
                    Some(None) => return Poll::Ready(Ok(count)),
                    None => break,
                }
            }
            if count > 0 {
                return Poll::Ready(Ok(count));
            }
            let before = out.len();
            let look = self.look(
                |cursor, visit| cursor.poll_visit(How::Future, cx, max, visit),
                |panics, news| {
                    let before = out.len();
                    panics.run(|| out.extend(news.iter().map(|entry| T::clone(&entry.value))));
                    out.len() - before
                },
            );
            if out.len() > before {
                return Poll::Ready(Ok(out.len() - before));
            }
            match look {
                Poll::Ready(Some(_)) => {} // as above
                Poll::Ready(None) => self.reach_end(),
                Poll::Pending if self.look_again() => {}
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Looks at the log; `yields` clones what is news out of the shard's copies, in place and a run
    /// at a time, and says how many, which may be fewer only by a panic.
    ///
    /// A feed that may fail yields what comes before the version from which on it has failed. A
    /// panic is told once the shard's part is free; what it left stays in the log.
    fn look<R>(
        &mut self,
        look: impl FnOnce(&mut Cursors<Entry<T>, P>, &mut dyn FnMut(&[Entry<T>]) -> usize) -> R,
        mut yields: impl FnMut(&mut Panics, &[Entry<T>]) -> usize,
    ) -> R {
        let mut panics = Panics::default();
        let mut has_overrun = false;
        let Self {
            core,
            cursor,
            next,
            delivered,
            room,
            ..
        } = self;
        let answer = look(cursor, &mut |run| {
            let is_old = |entry: &Entry<T>| entry.number < *next;
            let start = match run.first().is_some_and(is_old) {
                true => run.partition_point(is_old),
                false => 0,
            };
            let room_end = match room {
                Some(room) => run.partition_point(|entry| !room.gauge.has_failed(entry.number)),
                None => run.len(),
            };
            let end = room_end.max(start);
            let taken = start + yields(&mut panics, &run[start..end]);
            has_overrun |= taken == end && room_end < run.len();
            if let Some(last) = taken.checked_sub(1).map(|last| &run[last]) {
                *delivered += (taken - start) as u64;
                *next = (last.number + 1).max(*next);
                if let Some(room) = room {
                    let capacity = core.capacity as u64;
                    room.gauge.set_limit(last.number + 1 + capacity);
                }
            }
            taken
        });
        if has_overrun {
            self.fail();
        }
        panics.resume();
        answer
    }

    /// What can be yielded without a look at the log: `None` if that is needed.
    fn at_hand(&mut self) -> Option<Option<Result<T, FeedError>>> {
        if let Some(state) = &self.apart {
            let value = T::clone(&state.value);
            self.next = state.mark.version.0 + 1;
            self.apart = None;
            self.delivered += 1;
            return Some(Some(Ok(value)));
        }
        match self.end? {
            End::Failing => {
                self.end = Some(End::Over);
                Some(Some(Err(FeedError::Overrun)))
            }
            End::Over => Some(None),
        }
    }

    /// The log has nothing now. Whether to look again: the feed has failed, or the newest value was
    /// not in the log.
    fn look_again(&mut self) -> bool {
        if self.has_overrun() {
            self.fail();
            return true;
        }
        self.core.help()
    }

    /// The log has ended: what is left is the last value, unless this feed had it.
    fn reach_end(&mut self) {
        if self.has_overrun() {
            return self.fail();
        }
        let last = self.core.state.snapshot(|last| {
            let is_news = last.mark.version.0 >= self.next;
            is_news.then(|| Arc::clone(last))
        });
        let was_dropped = |last: &Arc<Snapshot<T>>| last.mark.version.0 < self.core.log.tail();
        self.regains = last.as_ref().is_some_and(was_dropped);
        self.end = Some(End::Over);
        self.apart = last;
    }

    /// Whether this feed had no room for what comes next, now that it has yielded what the log had
    /// for it.
    fn has_overrun(&self) -> bool {
        let Some(room) = &self.room else { return false };
        let log = self.cursor.stats();
        // The log counts what it would drop if this feed looked now: what comes before that counts
        // as lag.
        room.gauge.has_failed(self.next) || (log.dropped > 0 && log.lag == 0)
    }

    fn fail(&mut self) {
        self.room = None;
        self.end = Some(End::Failing);
        self.has_failed = true;
        // It never looks at the log again, so it may not be who is woken for others.
        self.cursor.stop_waiting();
    }
}

/// Clones the first of the values.
fn take_one<T: Clone>(panics: &mut Panics, news: &[Entry<T>], value: &mut Option<T>) -> usize {
    *value = news
        .first()
        .and_then(|entry| panics.run(|| T::clone(&entry.value)));
    usize::from(value.is_some())
}
