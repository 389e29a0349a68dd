//! What became of every connection.
//!
//! Each connection holds a [`Seat`] from its accept to its end and is counted once when the seat is
//! dropped, so none is lost from the sums, whatever ends it. Any thread may count and read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// What became of the connections of one binding.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Stats {
    /// The sums over all serving shards.
    pub total: ConnectionStats,
    /// Each serving shard, the one that accepts first.
    pub shards: Vec<ShardStats>,
}

/// What became of the connections of one shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShardStats {
    /// The shard's index.
    pub shard: usize,
    /// Its counts.
    pub connections: ConnectionStats,
}

/// Counts of connections since the binding was made.
///
/// `accepted = open + finished + cut + panicked` at any time; what is refused or lost was never
/// accepted.
///
/// ```
/// use corelane_net::ConnectionStats;
/// let none = ConnectionStats::default();
/// assert_eq!((none.accepted, none.closed()), (0, 0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ConnectionStats {
    /// Given to a handler.
    pub accepted: u64,
    /// Those of the accepted that came from another shard.
    pub moved: u64,
    /// Closed at once, because the shard had its limit of connections.
    pub refused: u64,
    /// Lost on the way to their shard: the socket could not be moved, or the binding was dropped.
    pub lost: u64,
    /// Whose handler has not ended.
    pub open: u64,
    /// Whose handler ended by itself.
    pub finished: u64,
    /// Dropped with their handler: at the deadline of a close, or with the binding.
    pub cut: u64,
    /// Whose handler panicked.
    pub panicked: u64,
}

impl ConnectionStats {
    /// Accepted connections whose handler has ended, in any way.
    #[must_use]
    pub fn closed(&self) -> u64 {
        self.finished + self.cut + self.panicked
    }

    fn add(&mut self, other: &Self) {
        self.accepted += other.accepted;
        self.moved += other.moved;
        self.refused += other.refused;
        self.lost += other.lost;
        self.open += other.open;
        self.finished += other.finished;
        self.cut += other.cut;
        self.panicked += other.panicked;
    }
}

impl Stats {
    pub(crate) fn of<'a>(shards: impl Iterator<Item = (usize, &'a Counts)>) -> Self {
        let mut stats = Self::default();
        for (shard, counts) in shards {
            let connections = counts.snapshot();
            stats.total.add(&connections);
            stats.shards.push(ShardStats { shard, connections });
        }
        stats
    }
}

/// The counters of one serving shard, on a cache line pair of their own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Counts {
    /// Seats taken: connections open here or on their way.
    load: AtomicUsize,
    accepted: AtomicU64,
    moved: AtomicU64,
    refused: AtomicU64,
    lost: AtomicU64,
    finished: AtomicU64,
    cut: AtomicU64,
    panicked: AtomicU64,
}

impl Counts {
    /// Seats taken. Relaxed: a hint that balances, not a limit.
    pub(crate) fn load(&self) -> usize {
        self.load.load(Ordering::Relaxed)
    }

    fn snapshot(&self) -> ConnectionStats {
        // The ends first, with Acquire: whoever is seen to have ended is then seen as accepted.
        let [finished, cut, panicked] =
            [&self.finished, &self.cut, &self.panicked].map(|count| count.load(Ordering::Acquire));
        let [refused, lost, moved, accepted] =
            [&self.refused, &self.lost, &self.moved, &self.accepted]
                .map(|count| count.load(Ordering::Relaxed));
        ConnectionStats {
            accepted,
            moved,
            refused,
            lost,
            open: accepted - finished - cut - panicked,
            finished,
            cut,
            panicked,
        }
    }
}

/// How a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Lost,
    Refused,
    Cut,
    Finished,
    Panicked,
}

/// One connection's place on a shard: it weighs in the shard's load, and its end is counted when it
/// is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    counts: Arc<Counts>,
    end: End,
}

impl Seat {
    /// Takes a seat. A connection that does not get further is lost.
    pub(crate) fn new(counts: &Arc<Counts>) -> Self {
        counts.load.fetch_add(1, Ordering::Relaxed);
        Self {
            counts: Arc::clone(counts),
            end: End::Lost,
        }
    }

    /// Counts that the connection came from another shard and was accepted.
    pub(crate) fn accept_moved(&mut self) {
        self.counts.moved.fetch_add(1, Ordering::Relaxed);
        self.accept();
    }

    /// Counts that the connection was accepted. One that does not get further is cut.
    pub(crate) fn accept(&mut self) {
        self.counts.accepted.fetch_add(1, Ordering::Relaxed);
        self.end = End::Cut;
    }

    /// Says how the connection ends.
    pub(crate) fn ends(&mut self, end: End) {
        self.end = end;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let counts = &self.counts;
        let count = match self.end {
            End::Lost => &counts.lost,
            End::Refused => &counts.refused,
            End::Finished => &counts.finished,
            // The handler's own drop panics, and takes this seat with it.
            End::Cut if std::thread::panicking() => &counts.panicked,
            End::Cut => &counts.cut,
            End::Panicked => &counts.panicked,
        };
        // Release, partner `snapshot`: the accept was counted before.
        count.fetch_add(1, Ordering::Release);
        counts.load.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_is_counted_once() {
        let counts = Arc::<Counts>::default();
        drop(Seat::new(&counts));
        for end in [End::Lost, End::Refused] {
            Seat::new(&counts).ends(end);
        }
        for end in [End::Cut, End::Finished, End::Panicked] {
            let mut seat = Seat::new(&counts);
            seat.accept();
            seat.ends(end);
        }
        let mut moved = Seat::new(&counts);
        moved.accept_moved();
        assert_eq!((counts.load(), counts.snapshot().open), (1, 1));
        drop(moved);
        let expected = ConnectionStats {
            accepted: 4,
            moved: 1,
            refused: 1,
            lost: 2,
            open: 0,
            finished: 1,
            cut: 2,
            panicked: 1,
        };
        assert_eq!((counts.load(), counts.snapshot()), (0, expected));
        assert_eq!(expected.closed(), expected.accepted);
    }

    #[test]
    fn a_reader_never_sees_an_end_before_its_accept() {
        let counts = Arc::<Counts>::default();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for _ in 0..100_000 {
                    let mut seat = Seat::new(&counts);
                    seat.accept();
                    seat.ends(End::Finished);
                }
            });
            while !writer.is_finished() {
                // It underflows if it does.
                assert!(counts.snapshot().open <= 100_000);
            }
        });
        assert_eq!(counts.snapshot().finished, 100_000);
    }
}
