//! The books of one shard, and the tasks that apply what comes over the lanes.

use std::cell::RefCell;
use std::rc::Rc;

use corelane::task::yield_now;
use corelane::time::Instant;
use corelane_primitives::{Consumer, Topic};

use super::crew::Crew;
use super::door::Hall;
use super::ringside::Ringside;
use super::routes::{LANE_SLOTS, Timed};
use super::tops::Tops;
use crate::feed::{Ages, Books, KEPT_UPDATES_MAX, RingReport, ShardSummary, Symbol, Trade, Update};

/// Updates that are applied before other tasks of the shard have their turn: a whole lane, since
/// there may be many decoders that fill it. Takes about a hundred µs.
const BATCH_MAX: usize = LANE_SLOTS;

/// The books of one shard. Each of its tasks borrows them for a batch, and never while it waits.
#[derive(Debug)]
pub(super) struct Owner(pub(super) RefCell<State>);

#[derive(Debug)]
pub(super) struct State {
    books: Books,
    tops: Tops,
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
    /// Applied trades that are not published yet.
    trades: Vec<Trade>,
    published: u64,
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
    pub(super) tops: u64,
    pub(super) trades: u64,
    pub(super) rings: Vec<RingReport>,
}

impl Owner {
    /// No books yet. Their best prices will be those of `tops`.
    pub(super) fn new(tops: Tops) -> Self {
        Self(RefCell::new(State {
            books: Books::new(KEPT_UPDATES_MAX),
            tops,
            updates: 0,
            gaps: 0,
            refused: 0,
            lane_peak: 0,
            ages: Ages::default(),
            ages_before: Ages::default(),
            decoded: Vec::new(),
            touched: Vec::new(),
            trades: Vec::new(),
            published: 0,
            ringside: None,
        }))
    }

    /// Applies what comes over every lane that is brought, until all of them have ended. Trades go
    /// to `topic`.
    pub(super) async fn apply_all(
        self: Rc<Self>,
        mut lanes: Hall<Consumer<Timed>>,
        topic: Topic<Trade>,
    ) {
        let crew = Crew::default();
        while let Some(lane) = lanes.next().await {
            crew.start(Rc::clone(&self).apply(lane, topic.clone()));
        }
        crew.done().await;
    }

    async fn apply(self: Rc<Self>, mut lane: Consumer<Timed>, topic: Topic<Trade>) {
        let mut trades = Vec::new();
        while lane.ready().await {
            self.0.borrow_mut().apply_batch(&mut lane);
            lane.notify();
            self.publish(&topic, &mut trades).await;
            yield_now().await;
        }
    }

    /// Publishes the trades that were applied; waits where a reader makes it. `spent` is empty
    /// before and after, and keeps its memory.
    pub(super) async fn publish(&self, topic: &Topic<Trade>, spent: &mut Vec<Trade>) {
        std::mem::swap(&mut self.0.borrow_mut().trades, spent);
        if spent.is_empty() {
            return;
        }
        let published = topic.publish_batch(spent.drain(..)).await;
        let published = published.expect("a topic ends with its last handle alone");
        self.0.borrow_mut().published += published as u64;
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
            refused: refused + state.refused,
            lane_peak: state.lane_peak,
            tops: state.tops.sets(),
            trades: state.published,
            rings,
        }
    }

    /// Ends the best prices: who follows them gets the last ones, and then the end.
    pub(super) fn end_tops(&self) {
        self.0.borrow().tops.close();
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
            published: state.published,
            ..ShardSummary::default()
        };
        if let Some(ringside) = &state.ringside {
            ringside.close(&mut summary);
        }
        state.tops.report(&mut summary.tops);
        summary.close_books(&state.books);
        summary
    }
}

impl State {
    /// Applies what waits in `lane`, at most a batch.
    fn apply_batch(&mut self, lane: &mut Consumer<Timed>) {
        self.lane_peak = self.lane_peak.max(lane.len() as u64);
        self.apply_all(lane.read_chunk(BATCH_MAX));
    }

    /// Applies a batch.
    pub(super) fn apply_all(&mut self, updates: impl Iterator<Item = Timed>) {
        for Timed { decoded, update } in updates {
            self.apply(decoded, update);
        }
        self.finish();
    }

    /// Applies one update of a batch.
    pub(super) fn apply(&mut self, decoded: Instant, update: Update) {
        match self.decoded.last_mut() {
            Some((last, count)) if *last == decoded => *count += 1,
            Some(_) | None => self.decoded.push((decoded, 1)),
        }
        let trade = match &update {
            Update::Trade(trade) => Some(*trade),
            Update::Snapshot(_) | Update::Depth(_) | Update::Ticker(_) => None,
        };
        let Ok((change, book)) = self.books.apply(update) else {
            self.refused += 1;
            return;
        };
        self.updates += 1;
        self.gaps += u64::from(change.gap);
        self.trades.extend(trade);
        if change.top && !self.touched.contains(&book.symbol()) {
            self.touched.push(book.symbol());
        }
    }

    /// Ends a batch: sets the best prices that it changed. The clock is read once, behind its last
    /// update.
    pub(super) fn finish(&mut self) {
        let applied = Instant::now();
        for (decoded, count) in self.decoded.drain(..) {
            let age = applied.duration_since(decoded);
            self.ages.record_many(age.as_nanos() as u64, count);
        }
        for symbol in self.touched.drain(..) {
            let book = self.books.book(symbol);
            self.tops.set(book.expect("what was touched is there"));
        }
        self.tops.list();
    }
}
