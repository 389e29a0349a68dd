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
use super::ringside::Ringside;
use super::routes::{LANE_SLOTS, Timed};
use crate::feed::{Ages, Books, KEPT_UPDATES_MAX, RingReport, ShardSummary, Symbol, Update};

/// Updates that are applied before other tasks of the shard have their turn: a whole lane, since
/// there may be many decoders that fill it. Takes about a hundred µs.
const BATCH_MAX: usize = LANE_SLOTS;

/// The books of one shard. Each of its tasks borrows them for a batch, and never while it waits.
#[derive(Debug)]
pub(super) struct Owner(pub(super) RefCell<State>);

#[derive(Debug)]
pub(super) struct State {
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
    /// Of one batch: whose best prices changed.
    touched: Vec<Symbol>,
    /// Of one batch: whether anybody listens.
    has_audience: bool,
    /// What comes over rings, if the feed is the embedded one.
    pub(super) ringside: Option<Ringside>,
}

/// What a shard's books have to say once a second.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    pub(super) updates: u64,
    pub(super) gaps: u64,
    pub(super) refused: u64,
    pub(super) lane_peak: u64,
    pub(super) rings: Vec<RingReport>,
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
            touched: Vec::new(),
            has_audience: false,
            ringside: None,
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
        let rings: Vec<_> = state.ringside.iter().flat_map(Ringside::rings).collect();
        let refused = state.ringside.as_ref().map_or(0, Ringside::refused);
        Progress {
            updates: state.updates,
            gaps: state.gaps,
            refused: refused
                + state.refused
                + state.publisher.as_ref().map_or(0, Publisher::refused),
            lane_peak: state.lane_peak,
            rings,
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
        if let Some(ringside) = &state.ringside {
            ringside.close(&mut summary);
        }
        summary.close_books(&state.books);
        summary
    }
}

/// Which best prices subscribers are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tops {
    /// Each that an update leads to.
    Each,
    /// The last ones of the batch, as an update of several levels comes in several words.
    Last,
}

impl State {
    /// Applies what waits in `lane`, at most a batch.
    fn apply_batch(&mut self, lane: &mut Consumer<Timed>) {
        self.lane_peak = self.lane_peak.max(lane.len() as u64);
        self.apply_all(lane.read_chunk(BATCH_MAX));
    }

    /// Applies a batch.
    pub(super) fn apply_all(&mut self, updates: impl Iterator<Item = Timed>) {
        self.begin();
        for Timed { decoded, update } in updates {
            self.apply(decoded, update, Tops::Each);
        }
        self.finish();
    }

    /// Begins a batch.
    pub(super) fn begin(&mut self) {
        let publisher = self.publisher.as_ref();
        self.has_audience = publisher.is_some_and(Publisher::has_audience);
    }

    /// Applies one update of a batch.
    pub(super) fn apply(&mut self, decoded: Instant, update: Update, tops: Tops) {
        match self.decoded.last_mut() {
            Some((last, count)) if *last == decoded => *count += 1,
            Some(_) | None => self.decoded.push((decoded, 1)),
        }
        let mut publisher = self.publisher.as_mut().filter(|_| self.has_audience);
        if let Some(publisher) = &mut publisher {
            publisher.note(&update);
        }
        let Ok((change, book)) = self.books.apply(update) else {
            self.refused += 1;
            return;
        };
        self.updates += 1;
        self.gaps += u64::from(change.gap);
        let Some(publisher) = publisher.filter(|_| change.top) else {
            return;
        };
        let symbol = book.symbol();
        match tops {
            Tops::Each => publisher.top(book),
            Tops::Last if self.touched.contains(&symbol) => {}
            Tops::Last => self.touched.push(symbol),
        }
    }

    /// Ends a batch. The clock is read once, behind its last update.
    pub(super) fn finish(&mut self) {
        let applied = Instant::now();
        for (decoded, count) in self.decoded.drain(..) {
            let age = applied.duration_since(decoded);
            self.ages.record_many(age.as_nanos() as u64, count);
        }
        let Some(publisher) = self.publisher.as_mut().filter(|_| self.has_audience) else {
            return;
        };
        for symbol in self.touched.drain(..) {
            let book = self.books.book(symbol);
            publisher.top(book.expect("what was touched is there"));
        }
        publisher.send();
    }
}
