//! The books of one shard, and the tasks that apply what comes over the lanes.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};

use corelane::task::yield_now;
use corelane::time::Instant;
use corelane_primitives::Consumer;

use super::crew::Crew;
use super::door::Hall;
use super::publish::Publisher;
use super::routes::{LANE_SLOTS, Timed};
use crate::feed::{Ages, Books, KEPT_UPDATES_MAX, ShardSummary};

/// Updates that are applied before other tasks of the shard have their turn: a whole lane, since
/// there may be many decoders that fill it. Takes about a hundred µs.
const BATCH_MAX: usize = LANE_SLOTS;

/// The books of one shard. Each of its tasks borrows them for a batch, and never while it waits.
#[derive(Debug)]
pub(super) struct Owner(RefCell<State>);

#[derive(Debug)]
struct State {
    books: Books,
    publisher: Option<Publisher>,
    updates: u64,
    gaps: u64,
    refused: u64,
    lane_peak: u64,
    /// Ages since the last sample, and those before.
    ages: Ages,
    ages_before: Ages,
    /// Of one batch: how many updates were decoded when.
    decoded: Vec<(Instant, u64)>,
}

/// What a shard's books have to say once a second.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    pub(super) updates: u64,
    pub(super) gaps: u64,
    pub(super) refused: u64,
    pub(super) lane_peak: u64,
}

impl Owner {
    /// No books yet. What changes goes to `publisher`, if there is one.
    pub(super) fn new(publisher: Option<Publisher>) -> Self {
        Self(RefCell::new(State {
            books: Books::new(KEPT_UPDATES_MAX),
            publisher,
            updates: 0,
            gaps: 0,
            refused: 0,
            lane_peak: 0,
            ages: Ages::default(),
            ages_before: Ages::default(),
            decoded: Vec::new(),
        }))
    }

    /// Applies what comes over every lane that is brought, until all of them have ended.
    pub(super) async fn apply_all(self: Rc<Self>, mut lanes: Hall<Consumer<Timed>>) {
        let crew = Crew::default();
        while let Some(lane) = lanes.next().await {
            crew.start(Rc::clone(&self).apply(lane));
        }
        crew.done().await;
    }

    async fn apply(self: Rc<Self>, mut lane: Consumer<Timed>) {
        while lane.ready().await {
            self.0.borrow_mut().apply_batch(&mut lane);
            lane.notify();
            yield_now().await;
        }
    }

    /// Sends every shard that asks the best prices, until nobody can ask any more.
    pub(super) async fn answer_all(self: Rc<Self>, mut asks: Hall<usize>) {
        while let Some(shard) = asks.next().await {
            poll_fn(|cx| self.poll_snapshot(cx, shard)).await;
        }
    }

    fn poll_snapshot(&self, cx: &mut Context<'_>, to: usize) -> Poll<()> {
        let state = &mut *self.0.borrow_mut();
        match &mut state.publisher {
            Some(publisher) => publisher.poll_snapshot(cx, to, &state.books),
            // It is over.
            None => Poll::Ready(()),
        }
    }

    /// What has been counted; the ages since the last call go into `ages`.
    pub(super) fn progress(&self, ages: &mut Ages) -> Progress {
        let state = &mut *self.0.borrow_mut();
        ages.merge(&state.ages);
        state.ages_before.merge(&state.ages);
        state.ages.clear();
        Progress {
            updates: state.updates,
            gaps: state.gaps,
            refused: state.refused + state.publisher.as_ref().map_or(0, Publisher::refused),
            lane_peak: state.lane_peak,
        }
    }

    /// Ends the publishing: subscribers get no more lines.
    pub(super) async fn end_publishing(&self) {
        let publisher = self.0.borrow_mut().publisher.take();
        if let Some(publisher) = publisher {
            let refused = publisher.finish().await;
            self.0.borrow_mut().refused += refused;
        }
    }

    /// The final state of books and counts.
    pub(super) fn close(&self) -> ShardSummary {
        let state = &mut *self.0.borrow_mut();
        state.ages_before.merge(&state.ages);
        state.ages.clear();
        let mut summary = ShardSummary {
            updates: state.updates,
            ages: state.ages_before.clone(),
            lane_peak: state.lane_peak,
            refused: state.refused,
            ..ShardSummary::default()
        };
        summary.close_books(&state.books);
        summary
    }
}

impl State {
    /// Applies what waits in `lane`, at most a batch. The clock is read once, behind the last one.
    fn apply_batch(&mut self, lane: &mut Consumer<Timed>) {
        self.lane_peak = self.lane_peak.max(lane.len() as u64);
        let mut publisher = self
            .publisher
            .as_mut()
            .filter(|publisher| publisher.has_audience());
        for Timed { decoded, update } in lane.read_chunk(BATCH_MAX) {
            match self.decoded.last_mut() {
                Some((last, count)) if *last == decoded => *count += 1,
                Some(_) | None => self.decoded.push((decoded, 1)),
            }
            if let Some(publisher) = &mut publisher {
                publisher.note(&update);
            }
            match self.books.apply(update) {
                Ok((change, book)) => {
                    self.updates += 1;
                    self.gaps += u64::from(change.gap);
                    if let Some(publisher) = publisher.as_mut().filter(|_| change.top) {
                        publisher.top(book);
                    }
                }
                Err(_) => self.refused += 1,
            }
        }
        let applied = Instant::now();
        for (decoded, count) in self.decoded.drain(..) {
            let age = applied.duration_since(decoded);
            self.ages.record_many(age.as_nanos() as u64, count);
        }
        if let Some(publisher) = publisher {
            publisher.send();
        }
    }
}
