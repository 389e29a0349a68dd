//! The closing report for people.

use std::fmt::{self, Write as _};

use super::figures::{duration, grouped, rate};
use super::{BookReport, Decimal, FillLosses, HoleReport, RecordReport, Report, SubscriberReport};

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
        writeln!(f, "tops         {}", self.tops)?;
        write!(f, "{}{}", self.trades, self.limits)?;
        let RecordReport { recorded, dropped } = self.recording;
        writeln!(
            f,
            "recording    {} recorded, {} dropped",
            grouped(recorded),
            grouped(dropped)
        )?;
        writeln!(f, "control      {}", self.control)?;
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
