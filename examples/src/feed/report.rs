//! What a run of the service tells at its end and while it goes on.

use std::fmt::{self, Write as _};

use serde::Serialize;

use super::pipeline::Ages;
use super::rings::{FillLosses, HoleReport, RingReport, RingsLine};
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

impl fmt::Display for Report {
    /// Writes the closing report for people: the run, then a table of the books.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let age = self.age_ns;
        writeln!(
            f,
            "driver       {} ({})",
            self.driver.name, self.driver.reason
        )?;
        writeln!(f, "shards       {}", self.shards)?;
        writeln!(f, "seconds      {:.3}", self.seconds)?;
        writeln!(
            f,
            "updates      {} ({}/s)",
            grouped(self.updates),
            rate(self.updates_per_s)
        )?;
        writeln!(
            f,
            "age          p50 {}, p99 {}, p99.9 {}, max {}",
            duration(age.p50),
            duration(age.p99),
            duration(age.p999),
            duration(age.max)
        )?;
        writeln!(f, "lane peak    {}", grouped(self.lane_peak))?;
        writeln!(
            f,
            "trouble      {} gaps, {} malformed, {} refused",
            self.gaps, self.malformed, self.refused
        )?;
        writeln!(f, "relocations  {}", grouped(self.relocations))?;
        self.write_rings(f)?;
        let SubscriberReport { served, cut } = self.subscribers;
        writeln!(f, "subscribers  {served} served, {cut} cut")?;
        if self.books.is_empty() {
            return writeln!(f, "books        none");
        }
        writeln!(f)?;
        write_books(f, &self.books)
    }
}

impl Report {
    fn write_rings(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rings.is_empty() {
            return Ok(());
        }
        for ring in &self.rings {
            writeln!(f, "ring         {ring}")?;
        }
        let HoleReport {
            discarded,
            snapshots,
        } = self.holes;
        writeln!(
            f,
            "holes        {} words discarded, {snapshots} snapshots",
            grouped(discarded)
        )?;
        let FillLosses {
            timed_out,
            broken,
            trips,
        } = self.fills;
        writeln!(
            f,
            "fills        {timed_out} timed out, {broken} cut off, breaker tripped {trips} times"
        )
    }
}

const BOOK_COLUMNS: [&str; 12] = [
    "symbol", "bids", "asks", "best bid", "best ask", "last id", "applied", "stale", "gaps",
    "trades", "volume", "sha256",
];

/// How much of a hash the table shows; the JSON has all of it.
const HASH_CHARS_SHOWN: usize = 12;

fn write_books(f: &mut fmt::Formatter<'_>, books: &[BookReport]) -> fmt::Result {
    let price = |price: Option<Decimal>| price.map_or("-".to_owned(), |price| price.to_string());
    let mut rows = vec![BOOK_COLUMNS.map(str::to_owned)];
    rows.extend(books.iter().map(|book| {
        [
            book.symbol.to_string(),
            book.bids.to_string(),
            book.asks.to_string(),
            price(book.best_bid),
            price(book.best_ask),
            book.last_id.to_string(),
            grouped(book.applied),
            book.stale.to_string(),
            book.gaps.to_string(),
            grouped(book.trades),
            book.volume.to_string(),
            book.sha256.chars().take(HASH_CHARS_SHOWN).collect(),
        ]
    }));
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: [usize; BOOK_COLUMNS.len()] = std::array::from_fn(width);
    for row in &rows {
        let mut line = format!("{:<1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(widths).skip(1) {
            write!(line, "  {cell:>width$}")?;
        }
        writeln!(f, "{line}")?;
    }
    Ok(())
}

/// What the line of a running service says, once a second.
#[derive(Clone, Debug, Default)]
pub struct LiveLine {
    /// Seconds since the start.
    pub seconds: f64,
    /// Updates a second since the line before.
    pub updates_per_s: f64,
    /// Ages since the line before.
    pub age_ns: AgeReport,
    /// Most updates that ever waited in one lane.
    pub lane_peak: u64,
    /// Gaps so far.
    pub gaps: u64,
    /// Refusals so far.
    pub refused: u64,
    /// The rings; none where the feed comes from outside.
    pub rings: Option<RingsLine>,
    /// Subscribers now.
    pub subscribers: u64,
    /// The part of the last second that each shard was busy, from 0 to 1.
    pub busy: Vec<f64>,
}

impl fmt::Display for LiveLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let age = self.age_ns;
        write!(
            f,
            "{:>5.0} s  {:>7}/s",
            self.seconds,
            rate(self.updates_per_s)
        )?;
        write!(
            f,
            "  age {}/{}/{}",
            duration(age.p50),
            duration(age.p99),
            duration(age.p999)
        )?;
        match &self.rings {
            Some(rings) => write!(f, "  {rings}")?,
            None => write!(f, "  lane {}", self.lane_peak)?,
        }
        write!(f, "  gaps {}", self.gaps)?;
        write!(
            f,
            "  refused {}  subs {}  busy",
            self.refused, self.subscribers
        )?;
        for share in &self.busy {
            write!(f, " {:.0}%", share * 100.0)?;
        }
        Ok(())
    }
}

/// Groups of three digits, as people read large counts.
pub(super) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn rate(per_s: f64) -> String {
    match per_s {
        r if r >= 1e6 => format!("{:.2} M", r / 1e6),
        r if r >= 1e3 => format!("{:.1} k", r / 1e3),
        r => format!("{r:.0}"),
    }
}

pub(super) fn duration(ns: u64) -> String {
    let value = ns as f64;
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} µs", value / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", value / 1e6),
        _ => format!("{:.2} s", value / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::{Generator, KEPT_UPDATES_MAX};

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
            "age_ns books driver fills gaps holes lane_peak malformed refused relocations rings \
             seconds shards subscribers updates updates_per_s"
        );
        assert_eq!(keys(&json["driver"]), "name reason");
        assert_eq!(keys(&json["age_ns"]), "max p50 p99 p999");
        assert_eq!(keys(&json["subscribers"]), "cut served");
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
            "best bid",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
        let [header, row] = text.lines().rev().take(2).collect::<Vec<_>>()[..] else {
            panic!()
        };
        assert_eq!(header.len(), row.len(), "columns are aligned:\n{text}");
    }

    #[test]
    fn the_live_line_shows_rings_where_there_are_some() {
        let ring = |occupancy, age_bound_ns| RingReport {
            occupancy,
            peak: 10 * occupancy,
            refused: 2,
            age_bound_ns,
            ..RingReport::default()
        };
        let mut rings = RingsLine::default();
        rings.add(&ring(3, Some(4_000)));
        rings.add(&ring(2, None));
        let mut line = LiveLine::default();
        assert!(line.to_string().contains("  lane 0  gaps 0"), "{line}");
        line.rings = Some(rings);
        let told = line.to_string();
        let expected = "  ring 3 peak 30 refused 4 age at most 4.0 µs  gaps 0";
        assert!(told.contains(expected), "{told}");
    }

    #[test]
    fn the_live_line_is_one_line() {
        let line = LiveLine {
            busy: vec![0.5, 0.25],
            ..LiveLine::default()
        }
        .to_string();
        assert!(line.ends_with("busy 50% 25%"), "{line}");
        assert!(!line.contains('\n'), "{line}");
    }
}
