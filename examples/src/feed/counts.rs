//! What a run tells about what its shards share: best prices, trades, limits and control.

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

/// The subscription with risk limits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LimitsReport {
    /// The last version: how often a limit was changed.
    pub version: u64,
    /// The order side of each shard.
    pub orders: Vec<OrdersReport>,
}

/// The order side of one shard: which limits it acted on, and what it found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OrdersReport {
    /// The shard.
    pub shard: usize,
    /// The version that it acted on last.
    pub version: u64,
    /// How many versions it acted on, the first one included. None is left out.
    pub versions: u64,
    /// Trades that were checked; each is by one shard, if its symbol has a limit.
    pub checked: u64,
    /// Those that were larger than an order may be.
    pub orders_over: u64,
    /// Those that left a position larger than it may be.
    pub positions_over: u64,
}

impl fmt::Display for LimitsReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "limits       version {}", self.version)?;
        for orders in &self.orders {
            writeln!(
                f,
                "             orders {}: version {}, {} checked, {} orders and {} positions over",
                orders.shard,
                orders.version,
                grouped(orders.checked),
                grouped(orders.orders_over),
                grouped(orders.positions_over)
            )?;
        }
        Ok(())
    }
}

/// The recording of trades to a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecordReport {
    /// Trades that were written.
    pub recorded: u64,
    /// Trades that were lost while it was on, since the file was slow.
    pub dropped: u64,
}

/// The channel to the control, whose two counts agree at the end.
///
/// ```
/// use corelane_examples::feed::ControlReport;
///
/// let control = ControlReport { sent: 3, received: 3 };
/// assert_eq!(control.to_string(), "3 sent, 3 received");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ControlReport {
    /// Messages that were sent, from all shards.
    pub sent: u64,
    /// Messages that the control has taken.
    pub received: u64,
}

impl fmt::Display for ControlReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} sent, {} received", self.sent, self.received)
    }
}
