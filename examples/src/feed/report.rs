//! What a run of the service tells at its end.

use serde::Serialize;

use super::counts::{ControlReport, LimitsReport, RecordReport, TopsReport, TradesReport};
use super::pipeline::Ages;
use super::rings::{FillLosses, HoleReport, RingReport};
use super::{Book, Decimal, Symbol, Volume};

/// The JSON report of one run; its fields are the format that scripts rely on.
///
/// ```
/// use corelane_examples::feed::Report;
///
/// let json = serde_json::to_value(Report::default())?;
/// assert_eq!(json["subscribers"]["served"], 0);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// The I/O driver, and why it is that one.
    pub driver: DriverReport,
    /// How many shards ran.
    pub shards: usize,
    /// How long the run took, in s.
    pub seconds: f64,
    /// Updates applied to books; messages that only count are among them.
    pub updates: u64,
    /// The same a second.
    pub updates_per_s: f64,
    /// From decoded to applied.
    pub age_ns: AgeReport,
    /// Most updates that ever waited in one lane.
    pub lane_peak: u64,
    /// Gaps in all books.
    pub gaps: u64,
    /// Lines that could not be decoded.
    pub malformed: u64,
    /// Values that a full place handed back, and kept updates that had to make room.
    pub refused: u64,
    /// How often data was relocated to the shard that it had been sent to.
    pub relocations: u64,
    /// The rings, by their shards; none where the feed comes from outside.
    pub rings: Vec<RingReport>,
    /// What holes in the words of the rings led to.
    pub holes: HoleReport,
    /// Fills that were given up.
    pub fills: FillLosses,
    /// Best prices: a signal a symbol.
    pub tops: TopsReport,
    /// Trades: the topic.
    pub trades: TradesReport,
    /// Risk limits: the subscription.
    pub limits: LimitsReport,
    /// The recording; nothing without `--record`.
    pub recording: RecordReport,
    /// Control: the channel.
    pub control: ControlReport,
    /// Those who listened.
    pub subscribers: SubscriberReport,
    /// The books in the order of their symbols.
    pub books: Vec<BookReport>,
}

/// The I/O driver of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DriverReport {
    /// `uring` or `epoll`.
    pub name: String,
    /// Why it was chosen.
    pub reason: String,
}

/// How old updates were when they were applied, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AgeReport {
    /// The median.
    pub p50: u64,
    /// The 99th percentile.
    pub p99: u64,
    /// The 99.9th percentile.
    pub p999: u64,
    /// The oldest.
    pub max: u64,
}

impl From<&Ages> for AgeReport {
    fn from(ages: &Ages) -> Self {
        Self {
            p50: ages.quantile_ns(0.5),
            p99: ages.quantile_ns(0.99),
            p999: ages.quantile_ns(0.999),
            max: ages.max_ns(),
        }
    }
}

/// TCP subscribers of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SubscriberReport {
    /// How many were accepted.
    pub served: u64,
    /// How many of them were cut for being too slow.
    pub cut: u64,
}

/// One book at the end of a run. Prices and quantities are exact JSON numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BookReport {
    /// Whose book it is.
    pub symbol: Symbol,
    /// How many prices are bid.
    pub bids: usize,
    /// How many prices are asked.
    pub asks: usize,
    /// The highest bid; null without one.
    pub best_bid: Option<Decimal>,
    /// The lowest ask; null without one.
    pub best_ask: Option<Decimal>,
    /// The id up to which the book is built.
    pub last_id: u64,
    /// Depth updates applied.
    pub applied: u64,
    /// Updates that said nothing newer than the book.
    pub stale: u64,
    /// Holes in the sequence.
    pub gaps: u64,
    /// Levels in the applied updates.
    pub level_changes: u64,
    /// Trades.
    pub trades: u64,
    /// The sum of their quantities.
    pub volume: Volume,
    /// Ticker messages.
    pub tickers: u64,
    /// The hash of the book, as [`Book::sha256`] has it.
    pub sha256: String,
}

impl From<&Book> for BookReport {
    fn from(book: &Book) -> Self {
        let (counts, top) = (book.counts(), book.top());
        Self {
            symbol: book.symbol(),
            bids: book.bid_levels(),
            asks: book.ask_levels(),
            best_bid: top.bid.map(|level| level.price),
            best_ask: top.ask.map(|level| level.price),
            last_id: book.last_id(),
            applied: counts.applied,
            stale: counts.stale,
            gaps: counts.gaps,
            level_changes: counts.level_changes,
            trades: counts.trades,
            volume: counts.volume,
            tickers: counts.tickers,
            sha256: book.sha256(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::{Generator, KEPT_UPDATES_MAX, OrdersReport, ReaderReport};

    fn report() -> Report {
        let symbol = "ES".parse().unwrap();
        let mut book = Book::new(symbol, KEPT_UPDATES_MAX);
        for update in Generator::new(3)
            .take(500)
            .filter(|update| update.symbol() == symbol)
        {
            book.apply(update);
        }
        Report {
            updates: 1_234_567,
            updates_per_s: 2_500_000.0,
            age_ns: AgeReport {
                p50: 900,
                p99: 1_500,
                p999: 2_000_000,
                max: 3_000_000_000,
            },
            rings: vec![RingReport {
                name: "words",
                capacity: 16_384,
                peak: 1_100,
                age_bound_ns: Some(1_500_000),
                ..RingReport::default()
            }],
            tops: TopsReport {
                signals: 1,
                sets: 12_345,
                ..TopsReport::default()
            },
            trades: TradesReport {
                published: 7_654,
                readers: vec![ReaderReport {
                    delivered: 7_650,
                    dropped: 4,
                    ..ReaderReport::default()
                }],
                ..TradesReport::default()
            },
            limits: LimitsReport {
                version: 3,
                orders: vec![OrdersReport {
                    version: 2,
                    checked: 1_111,
                    ..OrdersReport::default()
                }],
            },
            books: vec![BookReport::from(&book)],
            ..Report::default()
        }
    }

    #[test]
    fn json_has_the_fields_that_scripts_rely_on() {
        let json = serde_json::to_value(report()).unwrap();
        let keys = |value: &serde_json::Value| {
            let mut keys: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
            keys.sort();
            keys.join(" ")
        };
        assert_eq!(
            keys(&json),
            "age_ns books control driver fills gaps holes lane_peak limits malformed recording \
             refused relocations rings seconds shards subscribers tops trades updates updates_per_s"
        );
        assert_eq!(keys(&json["driver"]), "name reason");
        assert_eq!(keys(&json["age_ns"]), "max p50 p99 p999");
        assert_eq!(keys(&json["subscribers"]), "cut served");
        assert_eq!(
            keys(&json["tops"]),
            "followed reads sets signals skipped versions"
        );
        assert_eq!(keys(&json["trades"]), "overflow published readers");
        assert_eq!(
            keys(&json["trades"]["readers"][0]),
            "delivered dropped shard"
        );
        assert_eq!(keys(&json["control"]), "received sent");
        assert_eq!(keys(&json["recording"]), "dropped recorded");
        assert_eq!(keys(&json["limits"]), "orders version");
        assert_eq!(
            keys(&json["limits"]["orders"][0]),
            "checked orders_over positions_over shard version versions"
        );
        assert_eq!(keys(&json["holes"]), "discarded snapshots");
        assert_eq!(keys(&json["fills"]), "broken timed_out trips");
        assert_eq!(
            keys(&json["rings"][0]),
            "age_bound_ns capacity drain_ns name occupancy peak refused shard"
        );
        assert_eq!(
            keys(&json["books"][0]),
            "applied asks best_ask best_bid bids gaps last_id level_changes sha256 stale symbol \
             tickers trades volume"
        );
        assert!(json["books"][0]["best_bid"].is_number());
    }

    #[test]
    fn text_shows_every_part_of_the_run() {
        let text = report().to_string();
        for part in [
            "1,234,567 (2.50 M/s)",
            "p50 900 ns",
            "p99 1.5 µs",
            "max 3.00 s",
            "words of shard 0: 0 of 16,384, peak 1,100, 0 refused, age at most 1.5 ms",
            "0 words discarded",
            "breaker tripped 0 times",
            "1 signals, 12,345 sets, 0 reads",
            "7,654 published, a full reader makes it wait",
            "reader 0: 7,650 delivered, 4 dropped",
            "limits       version 3",
            "orders 0: version 2, 1,111 checked, 0 orders and 0 positions over",
            "control      0 sent, 0 received",
            "best bid",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
        let [header, row] = text.lines().rev().take(2).collect::<Vec<_>>()[..] else {
            panic!()
        };
        assert_eq!(header.len(), row.len(), "columns are aligned:\n{text}");
    }
}
