//! How updates spread over shards, and how what the shards counted comes together.
//!
//! Owner: each shard has its own books and statistics; only [`ShardSummary`] leaves it, at the end.

use std::collections::HashMap;

use hdrhistogram::Histogram;

use super::instrument::InstrumentId;
use super::report::{AgeReport, BookReport, Report};
use super::rings::{FillLosses, HoleReport, RingReport};
use super::{Book, Change, OrdersReport, ReaderReport, Symbol, TopsReport, Update};

/// The shard that owns a symbol's book, among `shards` of them.
///
/// The instruments of the embedded feed go round robin, others by a hash that every process shares.
///
/// ```
/// use corelane_examples::feed::shard_of;
///
/// assert_eq!(shard_of("NQ".parse()?, 2), 1);
/// assert_ne!(shard_of("BTCUSDT".parse()?, 2), shard_of("ETHUSDT".parse()?, 2));
/// # Ok::<(), corelane_examples::feed::SymbolError>(())
/// ```
///
/// # Panics
///
/// When there are no shards.
pub fn shard_of(symbol: Symbol, shards: usize) -> usize {
    assert!(shards > 0, "a book needs a shard");
    owner(InstrumentId::named(symbol), symbol, shards)
}

fn owner(id: Option<InstrumentId>, symbol: Symbol, shards: usize) -> usize {
    match id {
        Some(id) => id.index() % shards,
        None => (mixed(symbol.spread()) % shards as u64) as usize,
    }
}

/// The instruments by their symbols, and the shard of each: what a decoder asks at every update.
///
/// It is a table of its own, so that each core can have one in its memory.
///
/// ```
/// use corelane_examples::feed::{Instruments, shard_of};
///
/// let instruments = Instruments::new(3);
/// for name in ["ES", "ZN", "BTCUSDT"] {
///     let symbol = name.parse()?;
///     assert_eq!(instruments.owner(symbol), shard_of(symbol, 3));
/// }
/// # Ok::<(), corelane_examples::feed::SymbolError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Instruments {
    rows: Box<[(Symbol, InstrumentId)]>,
    shards: usize,
}

impl Instruments {
    /// The table for a run on `shards` shards.
    ///
    /// # Panics
    ///
    /// When there are no shards.
    pub fn new(shards: usize) -> Self {
        assert!(shards > 0, "a book needs a shard");
        Self {
            rows: InstrumentId::all()
                .map(|id| (id.instrument().symbol(), id))
                .collect(),
            shards,
        }
    }

    /// The shard that owns the book of `symbol`, as [`shard_of`] has it.
    pub fn owner(&self, symbol: Symbol) -> usize {
        let row = self.rows.iter().find(|(known, _)| *known == symbol);
        owner(row.map(|&(_, id)| id), symbol, self.shards)
    }
}

/// The finalizer of SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number
/// Generators"), since the low bits of FNV-1a alone put similar names on one shard.
fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// Largest number of books that a shard builds: symbols come from outside, and so need a bound.
pub const BOOKS_MAX: usize = 4096;

/// The books of one shard.
#[derive(Debug)]
pub struct Books {
    books: HashMap<Symbol, Book>,
    kept_max: usize,
}

impl Books {
    /// No books yet; each will keep at most `kept_max` updates while it waits for a snapshot.
    pub fn new(kept_max: usize) -> Self {
        Self {
            books: HashMap::new(),
            kept_max,
        }
    }

    /// Applies `update` to the book of its symbol, which is made when it is the first one.
    ///
    /// # Errors
    ///
    /// [`BooksFull`] hands back an update of a new symbol when there are [`BOOKS_MAX`] books.
    pub fn apply(&mut self, update: Update) -> Result<(Change, &Book), BooksFull> {
        let symbol = update.symbol();
        if self.books.len() == BOOKS_MAX && !self.books.contains_key(&symbol) {
            return Err(BooksFull(update));
        }
        let book = self
            .books
            .entry(symbol)
            .or_insert_with(|| Book::new(symbol, self.kept_max));
        let change = book.apply(update);
        Ok((change, book))
    }

    /// The book of a symbol, if any update of it has come.
    pub fn book(&self, symbol: Symbol) -> Option<&Book> {
        self.books.get(&symbol)
    }

    /// All books, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &Book> {
        self.books.values()
    }
}

/// A shard has as many books as it may have; the update is handed back.
#[derive(Debug, thiserror::Error)]
#[error("no room for the book of {}", .0.symbol())]
pub struct BooksFull(pub Update);

/// Ages of updates, at a fixed memory: from 1 ns to a minute, to a thousandth of each value.
#[derive(Clone, Debug)]
pub struct Ages(Histogram<u64>);

const AGE_NS_MAX: u64 = 60_000_000_000;

impl Ages {
    /// Counts one age; more than a minute counts as a minute.
    pub fn record(&mut self, age_ns: u64) {
        self.record_many(age_ns, 1);
    }

    /// Counts `count` updates of one age, at the cost of one.
    pub fn record_many(&mut self, age_ns: u64, count: u64) {
        self.0.saturating_record_n(age_ns, count);
    }

    /// Adds the ages of another shard.
    pub fn merge(&mut self, other: &Self) {
        self.0
            .add(&other.0)
            .expect("all histograms of ages have the same bounds");
    }

    /// Forgets all ages and keeps the memory.
    pub fn clear(&mut self) {
        self.0.reset();
    }

    /// How many ages were counted.
    pub fn len(&self) -> u64 {
        self.0.len()
    }

    /// Whether none was counted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The age that this share of all does not exceed; zero without any.
    pub fn quantile_ns(&self, share: f64) -> u64 {
        self.0.value_at_quantile(share)
    }

    /// The largest age; zero without any.
    pub fn max_ns(&self) -> u64 {
        self.0.max()
    }
}

impl Default for Ages {
    fn default() -> Self {
        Self(Histogram::new_with_bounds(1, AGE_NS_MAX, 3).expect("the bounds are in order"))
    }
}

/// What one shard has counted, in a form that may leave it.
#[derive(Clone, Debug, Default)]
pub struct ShardSummary {
    /// Updates applied here.
    pub updates: u64,
    /// Their ages.
    pub ages: Ages,
    /// Most updates that ever waited in a lane to here.
    pub lane_peak: u64,
    /// Malformed lines of the inputs decoded here.
    pub malformed: u64,
    /// What full places here handed back.
    pub refused: u64,
    /// The rings to here.
    pub rings: Vec<RingReport>,
    /// What holes in their words led to.
    pub holes: HoleReport,
    /// Fills that were given up here.
    pub fills: FillLosses,
    /// Best prices: what was set here, and read from here.
    pub tops: TopsReport,
    /// Trades published here.
    pub published: u64,
    /// Trades read here.
    pub reader: ReaderReport,
    /// What the order side here found.
    pub orders: OrdersReport,
    /// Subscribers accepted here.
    pub served: u64,
    /// Subscribers cut here.
    pub cut: u64,
    /// The books at the end, with what each had to drop of what it kept.
    pub books: Vec<BookReport>,
}

impl ShardSummary {
    /// Takes the final state of the books in.
    pub fn close_books(&mut self, books: &Books) {
        for book in books.iter() {
            self.refused += book.counts().lapsed;
            self.books.push(BookReport::from(book));
        }
    }
}

impl Report {
    /// The report of a run of `seconds` on which these shards worked; its driver and settings are
    /// left open.
    pub fn of_shards(seconds: f64, summaries: Vec<ShardSummary>) -> Self {
        let mut report = Self {
            shards: summaries.len(),
            seconds,
            ..Self::default()
        };
        let mut ages = Ages::default();
        for summary in summaries {
            ages.merge(&summary.ages);
            report.updates += summary.updates;
            report.lane_peak = report.lane_peak.max(summary.lane_peak);
            report.malformed += summary.malformed;
            report.refused += summary.refused;
            report.rings.extend(summary.rings);
            report.holes.discarded += summary.holes.discarded;
            report.holes.snapshots += summary.holes.snapshots;
            report.fills.add(summary.fills);
            report.tops.add(&summary.tops);
            report.trades.published += summary.published;
            report.trades.readers.push(summary.reader);
            report.limits.orders.push(summary.orders);
            report.subscribers.served += summary.served;
            report.subscribers.cut += summary.cut;
            report.books.extend(summary.books);
        }
        report.books.sort_by_key(|book| book.symbol);
        report.gaps = report.books.iter().map(|book| book.gaps).sum();
        report.age_ns = AgeReport::from(&ages);
        // A run that took no time at all has no rate.
        report.updates_per_s = if seconds > 0.0 {
            report.updates as f64 / seconds
        } else {
            0.0
        };
        report
    }
}

#[cfg(test)]
mod tests;
