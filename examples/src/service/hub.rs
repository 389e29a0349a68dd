//! The subscribers of one shard, and what they are told of all shards.
//!
//! Owner: the shard. It reads the trades and follows the best prices of every shard, in tasks of
//! its own, and writes a line once for all its subscribers. Nothing here waits for a subscriber:
//! one that is too far behind is cut.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use corelane::net::TcpStream;
use corelane::task::yield_now;
use corelane::time::timeout;

use super::crew::Crew;
use super::subscriber::Subscriber;
use super::tops::{Boards, Directory, Listing, best_prices};
use crate::feed::{
    Best, ReaderReport, ShardSummary, Symbol, TopsReport, Trade, write_top, write_trade,
};

/// Subscribers of one shard at most; each can have a MiB waiting for it.
const SUBSCRIBERS_MAX: usize = 16_384;

/// How long subscribers may take at the end to fetch what is theirs.
const FLUSH_LIMIT: Duration = Duration::from_secs(3);

/// The subscribers of one shard: who they are, and what they are sent.
#[derive(Debug)]
pub(super) struct Hub {
    shard: usize,
    boards: Boards,
    subscribers: RefCell<Vec<Rc<Subscriber>>>,
    crew: Crew,
    served: Cell<u64>,
    cut: Cell<u64>,
    reader: Cell<ReaderReport>,
    tops: Cell<TopsReport>,
}

impl Hub {
    /// Nobody yet. The best prices of all shards stand on `boards`.
    pub(super) fn new(shard: usize, boards: Boards) -> Self {
        let reader = ReaderReport {
            shard,
            ..ReaderReport::default()
        };
        Self {
            shard,
            boards,
            subscribers: RefCell::default(),
            crew: Crew::default(),
            served: Cell::new(0),
            cut: Cell::new(0),
            reader: Cell::new(reader),
            tops: Cell::default(),
        }
    }

    /// How many subscribers there are.
    pub(super) fn subscribers(&self) -> usize {
        self.subscribers.borrow().len()
    }

    /// What the shard has read of the trades.
    pub(super) fn reader(&self) -> ReaderReport {
        self.reader.get()
    }

    /// Adds what was counted.
    pub(super) fn report(&self, summary: &mut ShardSummary) {
        summary.served += self.served.get();
        summary.cut += self.cut.get();
        summary.reader = self.reader.get();
        summary.tops.add(&self.tops.get());
    }

    /// Takes a subscriber in, unless there are too many; then the connection closes. The first that
    /// it is told are the best prices as they are.
    pub(super) fn join(self: &Rc<Self>, stream: TcpStream) -> bool {
        if self.subscribers() == SUBSCRIBERS_MAX {
            return false;
        }
        let subscriber = Rc::new(Subscriber::default());
        self.served.set(self.served.get() + 1);
        self.subscribers.borrow_mut().push(Rc::clone(&subscriber));
        let lines = self.best_prices();
        self.keep(|other| !std::ptr::eq(other, &*subscriber) || other.push(&lines));
        let hub = Rc::clone(self);
        self.crew.start(async move {
            subscriber.serve(stream).await;
            let mut subscribers = hub.subscribers.borrow_mut();
            subscribers.retain(|other| !Rc::ptr_eq(other, &subscriber));
        });
        true
    }

    /// A line for each symbol of all shards.
    fn best_prices(&self) -> Vec<u8> {
        let mut lines = Vec::new();
        for (symbol, best) in best_prices(&self.boards) {
            write_best(&mut lines, symbol, best);
            self.count(|tops| tops.reads += 1);
        }
        lines
    }

    /// Follows the best prices of all shards, each to its end, by tasks of `crew`.
    pub(super) fn follow_all(self: &Rc<Self>, crew: &Crew) {
        for board in self.boards.iter() {
            crew.start(Rc::clone(self).follow_board(board.clone(), crew.clone()));
        }
    }

    async fn follow_board(self: Rc<Self>, board: Directory, crew: Crew) {
        let (mut changes, mut known) = (board.changes(), 0);
        while let Some(listings) = changes.next().await {
            for listing in &listings[known..] {
                crew.start(Rc::clone(&self).follow(listing.clone()));
            }
            known = listings.len();
        }
    }

    async fn follow(self: Rc<Self>, listing: Listing) {
        let (mut changes, mut line) = (listing.top.changes(), Vec::new());
        while let Some(words) = changes.next().await {
            self.count(|tops| tops.followed += 1);
            if self.subscribers() > 0 {
                line.clear();
                write_best(&mut line, listing.symbol, Best::from_words(words));
                self.keep(|subscriber| subscriber.push(&line));
            }
            // A signal that is set all the time always has another one.
            yield_now().await;
        }
        self.count(|tops| tops.skipped += changes.stats().dropped);
    }

    fn count(&self, count: impl FnOnce(&mut TopsReport)) {
        let mut tops = self.tops.get();
        count(&mut tops);
        self.tops.set(tops);
    }

    /// Tells all subscribers `trades`, behind which the shard's feed has counted `reader`.
    pub(super) fn tell_trades(&self, trades: &[Trade], reader: ReaderReport) {
        let before = self.reader.replace(ReaderReport {
            shard: self.shard,
            ..reader
        });
        if reader.dropped > before.dropped {
            // Whoever has a hole in what was sent is better off with a new connection.
            self.keep(|_| false);
        }
        if trades.is_empty() || self.subscribers() == 0 {
            return;
        }
        let mut lines = Vec::new();
        for trade in trades {
            write_trade(&mut lines, trade).expect("writing to memory does not fail");
        }
        self.keep(|subscriber| subscriber.push(&lines));
    }

    /// Cuts all subscribers that `is_kept` does not want to keep.
    fn keep(&self, is_kept: impl Fn(&Subscriber) -> bool) {
        let mut cut = 0;
        self.subscribers.borrow_mut().retain(|subscriber| {
            let kept = is_kept(subscriber);
            if !kept {
                subscriber.cut();
                cut += 1;
            }
            kept
        });
        self.cut.set(self.cut.get() + cut);
    }

    /// Sends all subscribers what is left for them, and closes. Who is too slow for that is cut.
    pub(super) async fn finish(&self) {
        self.subscribers
            .borrow()
            .iter()
            .for_each(|subscriber| subscriber.end());
        if timeout(FLUSH_LIMIT, self.crew.done()).await.is_err() {
            self.keep(|_| false);
            self.crew.done().await;
        }
    }
}

/// Adds the line of best prices.
pub(super) fn write_best(lines: &mut Vec<u8>, symbol: Symbol, best: Best) {
    write_top(lines, symbol, best.id, &best.top).expect("writing to memory does not fail");
}

#[cfg(test)]
mod tests;
