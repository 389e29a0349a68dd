//! What a run tells about what its shards share: best prices and trades.

use std::fmt;

use serde::Serialize;

use super::Overflow;
use super::figures::grouped;

/// The signals with best prices.
///
/// ```
/// use corelane_examples::feed::TopsReport;
///
/// let tops = TopsReport { signals: 5, sets: 1_000, ..TopsReport::default() };
/// assert_eq!(tops.to_string(), "5 signals, 1,000 sets, 0 reads, 0 followed, 0 skipped");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TopsReport {
    /// How many there are: one a symbol that has had a price.
    pub signals: u64,
    /// How often the owners of the books set one.
    pub sets: u64,
    /// The sum of their versions, which is the same.
    pub versions: u64,
    /// How often one was read where it is, from any shard.
    pub reads: u64,
    /// Values that followers were given.
    pub followed: u64,
    /// Values that were replaced before a follower looked.
    pub skipped: u64,
}

impl TopsReport {
    /// Adds those of another shard.
    pub fn add(&mut self, other: &Self) {
        self.signals += other.signals;
        self.sets += other.sets;
        self.versions += other.versions;
        self.reads += other.reads;
        self.followed += other.followed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for TopsReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} signals, {} sets, {} reads, {} followed, {} skipped",
            self.signals,
            grouped(self.sets),
            grouped(self.reads),
            grouped(self.followed),
            grouped(self.skipped)
        )
    }
}

/// The topic with trades.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TradesReport {
    /// What became of trades for which a reader had no room.
    pub overflow: Overflow,
    /// Trades that the owners of the books have published.
    pub published: u64,
    /// What each reader got, by shards.
    pub readers: Vec<ReaderReport>,
}

/// One shard's feed of the trades. Its two counts together are what was published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReaderReport {
    /// The shard that reads.
    pub shard: usize,
    /// Trades that it got.
    pub delivered: u64,
    /// Trades that it lost.
    pub dropped: u64,
}

impl fmt::Display for TradesReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let becomes = match self.overflow {
            Overflow::Backpressure => "makes it wait",
            Overflow::DropNew => "loses the newest",
            Overflow::DropOldest => "loses its oldest",
        };
        writeln!(
            f,
            "trades       {} published, a full reader {becomes}",
            grouped(self.published)
        )?;
        for reader in &self.readers {
            writeln!(
                f,
                "             reader {}: {} delivered, {} dropped",
                reader.shard,
                grouped(reader.delivered),
                grouped(reader.dropped)
            )?;
        }
        Ok(())
    }
}
