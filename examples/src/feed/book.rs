//! The order book of one symbol, by the venue's rule.
//!
//! Owner: one shard; the book has no clock and waits for nothing. Rule (Binance spot API, "How to
//! manage a local order book correctly"): an update whose last id is at or below the snapshot's is
//! ignored; the first applied one covers the id after the snapshot's; after that every first id
//! follows the last id before it. Anything else is a gap: the book is stale until a snapshot joins
//! what came since. Model: `tests/feed_properties.rs`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};

use sha2::{Digest, Sha256};

use super::{Decimal, Depth, Level, Snapshot, Symbol, Ticker, Trade, Update, Volume};

/// Default bound on the updates that a book keeps while it waits for a snapshot.
pub const KEPT_UPDATES_MAX: usize = 4096;

/// The order book of one symbol.
///
/// ```
/// use corelane_examples::feed::{Book, Generator, KEPT_UPDATES_MAX};
///
/// let mut feed = Generator::new(1).filter(|update| update.symbol().as_str() == "ES");
/// let mut book = Book::new("ES".parse()?, KEPT_UPDATES_MAX);
/// assert!(book.top().bid.is_none());
/// let change = book.apply(feed.next().unwrap());
/// assert!(change.top);
/// assert!(book.top().bid.unwrap().price < book.top().ask.unwrap().price);
/// # Ok::<(), corelane_examples::feed::SymbolError>(())
/// ```
#[derive(Debug)]
pub struct Book {
    symbol: Symbol,
    bids: BTreeMap<Reverse<Decimal>, Decimal>,
    asks: BTreeMap<Decimal, Decimal>,
    top: Top,
    state: State,
    last_id: u64,
    // Not empty only while no snapshot has been joined.
    kept: VecDeque<Depth>,
    kept_max: usize,
    counts: BookCounts,
}

/// How a book stands to its feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No snapshot has come yet.
    Waiting,
    /// A snapshot was taken over, and no update has been applied to it.
    Fresh,
    /// Updates follow one another.
    Following,
    /// A gap was found.
    Stale,
}

/// What a book has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BookCounts {
    /// Depth updates that changed the book.
    pub applied: u64,
    /// Depth updates and snapshots that said nothing newer than the book.
    pub stale: u64,
    /// Holes found in the sequence; one that a snapshot does not close counts once.
    pub gaps: u64,
    /// Updates that were kept for a snapshot and had to make room for newer ones.
    pub lapsed: u64,
    /// Levels in the applied updates.
    pub level_changes: u64,
    /// Trades.
    pub trades: u64,
    /// The sum of their quantities.
    pub volume: Volume,
    /// Ticker messages.
    pub tickers: u64,
}

/// The best level of each side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Top {
    /// The highest bid, if any.
    pub bid: Option<Level>,
    /// The lowest ask, if any.
    pub ask: Option<Level>,
}

/// What an update did to a book.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The best level of a side is another one, or its quantity is.
    pub top: bool,
    /// A gap was found; a snapshot is needed.
    pub gap: bool,
}

impl Book {
    /// An empty book that keeps at most `kept_max` updates while it waits for a snapshot.
    pub fn new(symbol: Symbol, kept_max: usize) -> Self {
        Self {
            symbol,
            bids: BTreeMap::new(),
            asks: BTreeMap::new(),
            top: Top::default(),
            state: State::Waiting,
            last_id: 0,
            kept: VecDeque::new(),
            kept_max,
            counts: BookCounts::default(),
        }
    }

    /// Takes one update of this symbol in.
    ///
    /// The cost is logarithmic in the levels for each level of the update. A snapshot costs that
    /// for all its levels and for all updates kept for it.
    ///
    /// # Panics
    ///
    /// When the update belongs to another symbol.
    pub fn apply(&mut self, update: Update) -> Change {
        assert_eq!(
            update.symbol(),
            self.symbol,
            "an update is routed to the book of its symbol"
        );
        let gaps = self.counts.gaps;
        match update {
            Update::Snapshot(snapshot) => self.take_snapshot(&snapshot),
            Update::Depth(depth) => self.take_depth(depth),
            Update::Trade(Trade { quantity, .. }) => {
                self.counts.trades += 1;
                self.counts.volume.add(quantity);
                return Change::default();
            }
            Update::Ticker(Ticker { .. }) => {
                self.counts.tickers += 1;
                return Change::default();
            }
        }
        let top = self.best();
        let changed = top != self.top;
        self.top = top;
        Change {
            top: changed,
            gap: self.counts.gaps > gaps,
        }
    }

    /// Whose book this is.
    pub fn symbol(&self) -> Symbol {
        self.symbol
    }

    /// The best levels.
    pub fn top(&self) -> Top {
        self.top
    }

    /// The id up to which the book is built; zero before the first snapshot.
    pub fn last_id(&self) -> u64 {
        self.last_id
    }

    /// Whether the book follows its feed; it does not before a snapshot and after a gap.
    pub fn is_current(&self) -> bool {
        matches!(self.state, State::Fresh | State::Following)
    }

    /// How many updates are kept for a snapshot.
    pub fn kept_updates(&self) -> usize {
        self.kept.len()
    }

    /// How many prices are bid.
    pub fn bid_levels(&self) -> usize {
        self.bids.len()
    }

    /// How many prices are asked.
    pub fn ask_levels(&self) -> usize {
        self.asks.len()
    }

    /// What has been counted.
    pub fn counts(&self) -> &BookCounts {
        &self.counts
    }

    /// The bids from the highest price down.
    pub fn bids(&self) -> impl Iterator<Item = Level> + '_ {
        self.bids.iter().map(|(price, quantity)| Level {
            price: price.0,
            quantity: *quantity,
        })
    }

    /// The asks from the lowest price up.
    pub fn asks(&self) -> impl Iterator<Item = Level> + '_ {
        self.asks.iter().map(|(price, quantity)| Level {
            price: *price,
            quantity: *quantity,
        })
    }

    /// The SHA-256 of the book in lower-case hexadecimal digits.
    ///
    /// Hashed are a line `price:quantity` a level in plain decimals, the bids from the highest
    /// price down, a line `-`, and the asks from the lowest price up. The cost is linear in the
    /// levels.
    pub fn sha256(&self) -> String {
        let mut hash = HashWriter(Sha256::new());
        self.write_levels(&mut hash).expect("hashing does not fail");
        hash.0
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// Writes the text whose hash is [`sha256`](Self::sha256).
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write_levels(&self, out: &mut impl Write) -> io::Result<()> {
        for Level { price, quantity } in self.bids() {
            writeln!(out, "{price}:{quantity}")?;
        }
        out.write_all(b"-\n")?;
        for Level { price, quantity } in self.asks() {
            writeln!(out, "{price}:{quantity}")?;
        }
        Ok(())
    }

    fn best(&self) -> Top {
        Top {
            bid: self.bids().next(),
            ask: self.asks().next(),
        }
    }

    fn take_depth(&mut self, depth: Depth) {
        match self.state {
            State::Waiting => self.keep(depth),
            State::Fresh | State::Following | State::Stale if depth.last_id <= self.last_id => {
                self.counts.stale += 1;
            }
            State::Stale => self.keep(depth),
            State::Fresh | State::Following if self.joins(&depth) => self.change(&depth),
            State::Fresh | State::Following => {
                self.lose();
                self.keep(depth);
            }
        }
    }

    /// Whether `depth`, which is newer than the book, goes on where the book ends.
    fn joins(&self, depth: &Depth) -> bool {
        // Something newer exists, so the id after the last one does not overflow.
        let next_id = self.last_id + 1;
        match self.state {
            State::Fresh => depth.first_id <= next_id,
            State::Following => depth.first_id == next_id,
            State::Waiting | State::Stale => false,
        }
    }

    fn change(&mut self, depth: &Depth) {
        for Level { price, quantity } in &depth.bids {
            set(&mut self.bids, Reverse(*price), *quantity);
        }
        for Level { price, quantity } in &depth.asks {
            set(&mut self.asks, *price, *quantity);
        }
        self.counts.applied += 1;
        self.counts.level_changes += (depth.bids.len() + depth.asks.len()) as u64;
        self.last_id = depth.last_id;
        self.state = State::Following;
    }

    /// A hole was found.
    fn lose(&mut self) {
        self.state = State::Stale;
        self.counts.gaps += 1;
    }

    fn keep(&mut self, depth: Depth) {
        self.kept.push_back(depth);
        if self.kept.len() > self.kept_max {
            // The next snapshot is newer than what is oldest here, and will not need it.
            self.kept.pop_front();
            self.counts.lapsed += 1;
        }
    }

    fn take_snapshot(&mut self, snapshot: &Snapshot) {
        if snapshot.last_update_id < self.last_id && !self.heals_from(snapshot) {
            self.counts.stale += 1;
            return;
        }
        let was_stale = self.state == State::Stale;
        self.replace(snapshot);
        self.judge_kept(was_stale);
    }

    /// Whether a snapshot older than the book is of use: only for a stale one whose kept updates
    /// join it.
    fn heals_from(&self, snapshot: &Snapshot) -> bool {
        let last_id = snapshot.last_update_id;
        let newer = self.kept.iter().find(|depth| depth.last_id > last_id);
        self.state == State::Stale && newer.is_some_and(|depth| depth.first_id <= last_id + 1)
    }

    fn replace(&mut self, snapshot: &Snapshot) {
        self.bids.clear();
        self.asks.clear();
        for Level { price, quantity } in &snapshot.bids {
            set(&mut self.bids, Reverse(*price), *quantity);
        }
        for Level { price, quantity } in &snapshot.asks {
            set(&mut self.asks, *price, *quantity);
        }
        self.last_id = snapshot.last_update_id;
        self.state = State::Fresh;
    }

    /// Applies what was kept to a fresh snapshot, as far as it joins.
    fn judge_kept(&mut self, was_stale: bool) {
        while let Some(depth) = self.kept.pop_front() {
            if depth.last_id <= self.last_id {
                self.counts.stale += 1;
            } else if self.joins(&depth) {
                self.change(&depth);
            } else {
                // The hole that made the book stale was counted when it was found.
                if was_stale && self.state == State::Fresh {
                    self.state = State::Stale;
                } else {
                    self.lose();
                }
                self.kept.push_front(depth);
                return;
            }
        }
    }
}

/// Sets or, with nothing, removes a level. Removing what is not there is usual: the venue sends it.
fn set<K: Ord>(side: &mut BTreeMap<K, Decimal>, price: K, quantity: Decimal) {
    if quantity.is_zero() {
        side.remove(&price);
    } else {
        side.insert(price, quantity);
    }
}

struct HashWriter(Sha256);

impl Write for HashWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
