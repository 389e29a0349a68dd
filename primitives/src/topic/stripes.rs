//! The logs of a topic: one for all publishers, or several, of which each shard has its own.
//!
//! With [`Order::PerPublisher`](super::Order::PerPublisher) a topic has 16 logs, made with it. A
//! publishing shard always appends to the same one, so its values keep their order, and no other
//! shard's append meets it there unless more than 16 publish; then several share a log, its room
//! and one order. A feed has a seat on each log and takes from them in turn.

use super::cursor::Cursor;
use super::log::{Log, Refusal};
use super::pool::Spare;
use super::settings::TopicOverflow;
use crate::feed::FeedStats;
use crate::panics::Panics;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::task::{Context, Poll};
use thread_aware::affinity;

/// Logs of a topic without one order.
const STRIPES: usize = 16;

/// A log, and the node that its publishers keep for their next value.
struct Stripe<T> {
    log: Arc<Log<T>>,
    spare: Spare,
}

pub(super) struct Stripes<T>(Box<[Stripe<T>]>);

impl<T> Stripes<T> {
    /// One log for all publishers.
    pub(super) fn one(capacity: usize) -> Self {
        Self::new(1, capacity)
    }

    /// A log for each publishing shard.
    pub(super) fn many(capacity: usize) -> Self {
        Self::new(STRIPES, capacity)
    }

    fn new(count: usize, capacity: usize) -> Self {
        let stripe = |_| Stripe {
            log: Arc::new(Log::new(capacity)),
            spare: Spare::new(),
        };
        Self((0..count).map(stripe).collect())
    }

    /// What the calling shard appends to; `own` is its handle's spare node, for the one log.
    pub(super) fn writer<'a>(&'a self, own: &'a Spare) -> Writer<'a, T> {
        match &*self.0 {
            [only] => Writer {
                log: &only.log,
                spare: own,
            },
            stripes => {
                let stripe = &stripes[shard_number() % stripes.len()];
                Writer {
                    log: &stripe.log,
                    spare: &stripe.spare,
                }
            }
        }
    }

    pub(super) fn logs(&self) -> impl Iterator<Item = &Arc<Log<T>>> {
        self.0.iter().map(|stripe| &stripe.log)
    }

    /// Ends all logs, one after the other.
    pub(super) fn close(&self) {
        let mut panics = Panics::default();
        for log in self.logs() {
            panics.run(|| log.close());
        }
        panics.resume();
    }

    /// Whether the last log has ended, which comes after all others.
    pub(super) fn is_closed(&self) -> bool {
        self.0.last().is_some_and(|stripe| stripe.log.is_closed())
    }

    /// Takes back what a publisher kept of the one log.
    pub(super) fn end_publisher(&self, own: &Spare) {
        if let [only] = &*self.0 {
            only.log.end_publisher(own);
        }
    }
}

impl<T: Clone + Send + Sync> Stripes<T> {
    /// A seat on each log for the calling thread.
    pub(super) fn subscribe(&self, capacity: usize, overflow: TopicOverflow) -> Cursors<T> {
        let seats = self.logs().map(|log| log.subscribe(capacity, overflow));
        Cursors {
            all: seats.collect(),
            first: 0,
        }
    }
}

/// A number for the calling shard, or for its thread: neighbours have different ones.
fn shard_number() -> usize {
    /// Keeps the number that it is given: a thread's, which counts up.
    struct Number(u64);
    impl Hasher for Number {
        fn finish(&self) -> u64 {
            self.0
        }
        fn write(&mut self, bytes: &[u8]) {
            for byte in bytes {
                self.write_u64(u64::from(*byte));
            }
        }
        fn write_u64(&mut self, number: u64) {
            self.0 = self.0.wrapping_mul(31).wrapping_add(number);
        }
    }
    let here = affinity::current();
    if !here.is_anonymous() {
        return here.processor_index();
    }
    let mut number = Number(0);
    here.topology().hash(&mut number);
    number.finish() as usize
}

/// Where one publish goes.
pub(super) struct Writer<'a, T> {
    pub(super) log: &'a Log<T>,
    spare: &'a Spare,
}

impl<T> Clone for Writer<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Writer<'_, T> {}

impl<T> Writer<'_, T> {
    /// Appends; the caller holds the bell.
    pub(super) fn append(self, value: T, attempts_max: u32) -> Result<(), (T, Refusal)> {
        self.log.append(value, self.spare, attempts_max)
    }
}

/// A feed's seats on all logs of its topic.
pub(crate) struct Cursors<T> {
    all: Box<[Cursor<T>]>,
    /// Whose turn it is.
    first: usize,
}

impl<T> Cursors<T> {
    pub(crate) fn stop_waiting(&mut self) {
        self.all.iter_mut().for_each(Cursor::stop_waiting);
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
}

impl<T: Clone + Send + Sync> Cursors<T> {
    pub(crate) fn detach(self) -> Self {
        let all = self.all.into_iter().map(Cursor::detach);
        Self {
            all: all.collect(),
            first: self.first,
        }
    }

    /// The next value; `Err` says whether there will never be one.
    pub(crate) fn try_next(&mut self) -> Result<T, bool> {
        self.try_each(Cursor::try_next)
    }

    /// The next value, or `None` at the end; parks the task otherwise.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.poll_each(cx, Cursor::try_next, Cursor::poll_next)
    }

    /// The next values of one log, up to `max`, at the end of `out`: how many, or `None` at the
    /// end; parks the task otherwise.
    pub(crate) fn poll_batch(
        &mut self,
        cx: &mut Context<'_>,
        out: &mut Vec<T>,
        max: usize,
    ) -> Poll<Option<usize>> {
        let out = std::cell::RefCell::new(out);
        self.poll_each(
            cx,
            |cursor| cursor.try_batch(&mut out.borrow_mut(), max),
            |cursor, cx| cursor.poll_batch(cx, &mut out.borrow_mut(), max),
        )
    }

    /// Asks each log once, beginning with the one whose turn it is.
    fn try_each<R>(
        &mut self,
        mut take: impl FnMut(&mut Cursor<T>) -> Result<R, bool>,
    ) -> Result<R, bool> {
        let mut ended = true;
        for _ in 0..self.all.len() {
            let at = self.first;
            self.first = (at + 1) % self.all.len();
            match take(&mut self.all[at]) {
                Ok(taken) => {
                    self.stop_waiting();
                    return Ok(taken);
                }
                Err(has_ended) => ended &= has_ended,
            }
        }
        Err(ended)
    }

    /// Asks each log, then parks at each.
    fn poll_each<R>(
        &mut self,
        cx: &mut Context<'_>,
        take: impl FnMut(&mut Cursor<T>) -> Result<R, bool>,
        mut poll: impl FnMut(&mut Cursor<T>, &mut Context<'_>) -> Poll<Option<R>>,
    ) -> Poll<Option<R>> {
        if let [only] = &mut *self.all {
            return poll(only, cx);
        }
        match self.try_each(take) {
            Ok(taken) => return Poll::Ready(Some(taken)),
            Err(true) => return Poll::Ready(None),
            Err(false) => {}
        }
        let mut ended = true;
        for at in 0..self.all.len() {
            match poll(&mut self.all[at], cx) {
                Poll::Ready(Some(taken)) => {
                    self.first = (at + 1) % self.all.len();
                    self.stop_waiting();
                    return Poll::Ready(Some(taken));
                }
                Poll::Ready(None) => {}
                Poll::Pending => ended = false,
            }
        }
        if ended {
            return Poll::Ready(None);
        }
        Poll::Pending
    }
}
