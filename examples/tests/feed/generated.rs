//! The embedded feed, against a book that is as simple as can be.

use std::collections::BTreeMap;

use corelane_examples::feed::{
    Books, Decoder, Generator, INSTRUMENTS, Instrument, InstrumentId, KEPT_UPDATES_MAX,
    LEVELS_SHOWN, Level, Levels, Symbol, Update, write_line,
};

use crate::support::decode_in_chunks;

const UPDATES: usize = 50_000;

/// Prices to quantities a side, in units; ids are trusted.
#[derive(Default)]
struct Naive {
    bids: BTreeMap<i64, i64>,
    asks: BTreeMap<i64, i64>,
    last_id: u64,
}

impl Naive {
    fn apply(&mut self, update: &Update) {
        let (bids, asks) = match update {
            Update::Snapshot(snapshot) => {
                *self = Self {
                    last_id: snapshot.last_update_id,
                    ..Self::default()
                };
                (&snapshot.bids, &snapshot.asks)
            }
            Update::Depth(depth) => {
                assert_eq!(depth.first_id, self.last_id + 1, "ids are contiguous");
                self.last_id = depth.last_id;
                (&depth.bids, &depth.asks)
            }
            Update::Trade(_) | Update::Ticker(_) => return,
        };
        for (side, levels) in [(&mut self.bids, bids), (&mut self.asks, asks)] {
            for Level { price, quantity } in levels {
                side.insert(price.units(), quantity.units());
            }
            side.retain(|_, quantity| *quantity != 0);
        }
    }
}

fn instrument(symbol: Symbol) -> &'static Instrument {
    InstrumentId::named(symbol).unwrap().instrument()
}

#[test]
fn the_feed_builds_the_books_that_a_naive_receiver_has() {
    let mut naive: BTreeMap<Symbol, Naive> = BTreeMap::new();
    let mut books = Books::new(KEPT_UPDATES_MAX);
    for update in Generator::new(5).take(UPDATES) {
        let symbol = update.symbol();
        let simple = naive.entry(symbol).or_default();
        simple.apply(&update);
        let (highest, lowest) = (simple.bids.keys().next_back(), simple.asks.keys().next());
        assert!(highest < lowest, "{symbol} is crossed");
        books.apply(update).unwrap();
    }
    assert_eq!(naive.len(), INSTRUMENTS.len());
    for (symbol, simple) in naive {
        let book = books.book(symbol).unwrap();
        let units = |level: Level| (level.price.units(), level.quantity.units());
        let bids: Vec<_> = simple.bids.into_iter().rev().collect();
        let asks: Vec<_> = simple.asks.into_iter().collect();
        assert_eq!(book.bids().map(units).collect::<Vec<_>>(), bids, "{symbol}");
        assert_eq!(book.asks().map(units).collect::<Vec<_>>(), asks, "{symbol}");
        assert_eq!((bids.len(), asks.len()), (LEVELS_SHOWN, LEVELS_SHOWN));
        assert_eq!(
            (book.last_id(), book.counts().gaps, book.counts().stale),
            (simple.last_id, 0, 0)
        );
    }
}

#[test]
fn prices_are_on_the_tick_and_quantities_are_whole() {
    let mut prices = 0_u64;
    let mut check = |symbol: Symbol, level: &Level| {
        let tick = instrument(symbol).tick().units();
        assert_eq!(level.price.units() % tick, 0, "{symbol} {}", level.price);
        assert!(level.price.units() > 0);
        assert!(level.quantity.units() >= 0 && level.quantity.units() % 100_000_000 == 0);
        prices += 1;
    };
    for update in Generator::new(6).take(UPDATES) {
        let symbol = update.symbol();
        match update {
            Update::Snapshot(one) => one
                .bids
                .iter()
                .chain(&one.asks)
                .for_each(|l| check(symbol, l)),
            Update::Depth(one) => one
                .bids
                .iter()
                .chain(&one.asks)
                .for_each(|l| check(symbol, l)),
            Update::Ticker(one) => [one.bid, one.ask].iter().for_each(|l| check(symbol, l)),
            Update::Trade(one) => {
                check(
                    symbol,
                    &Level {
                        price: one.price,
                        quantity: one.quantity,
                    },
                );
                assert!(!one.quantity.is_zero());
            }
        }
    }
    assert!(prices > UPDATES as u64);
}

#[test]
fn tickers_and_trades_fit_the_book() {
    let mut books = Books::new(KEPT_UPDATES_MAX);
    let (mut tickers, mut trades) = (0, 0);
    for update in Generator::new(7).take(UPDATES) {
        let top = books.book(update.symbol()).map(|book| book.top());
        match &update {
            Update::Ticker(ticker) => {
                let top = top.unwrap();
                assert_eq!((Some(ticker.bid), Some(ticker.ask)), (top.bid, top.ask));
                tickers += 1;
            }
            Update::Trade(trade) => {
                let top = top.unwrap();
                let sides = [top.bid.unwrap(), top.ask.unwrap()];
                let fits =
                    |level: &Level| level.price == trade.price && trade.quantity <= level.quantity;
                assert!(sides.iter().any(fits), "{trade:?} {top:?}");
                trades += 1;
            }
            Update::Snapshot(_) | Update::Depth(_) => {}
        }
        books.apply(update).unwrap();
    }
    assert!(tickers > 1_000 && trades > 1_000, "{tickers} {trades}");
}

#[test]
fn a_seed_gives_one_feed_and_another_seed_another() {
    let feed = |seed| Generator::new(seed).take(5_000).collect::<Vec<_>>();
    assert_eq!(feed(1), feed(1));
    assert_ne!(feed(1), feed(2));
}

#[test]
fn lines_of_the_feed_decode_to_the_feed() {
    let updates: Vec<_> = Generator::new(8).take(5_000).collect();
    let mut text = Vec::new();
    for (received_ns, update) in updates.iter().enumerate() {
        write_line(&mut text, received_ns as u64, update).unwrap();
    }
    let found = decode_in_chunks(&mut Decoder::default(), &text, &[4096]);
    assert_eq!(found.len(), updates.len());
    for (number, (outcome, update)) in found.into_iter().zip(updates).enumerate() {
        let received = outcome.unwrap();
        assert_eq!(
            (received.received_ns, received.line),
            (number as u64, number as u64 + 1)
        );
        assert_eq!(received.update, update);
    }
}

#[test]
fn a_lost_update_is_a_gap_that_a_snapshot_of_the_feed_heals() {
    let mut feed = Generator::new(11);
    let mut books = Books::new(KEPT_UPDATES_MAX);
    let mut lost = None;
    // Loses the first update of every instrument once, long after the start.
    for number in 0..UPDATES {
        let update = feed.next().unwrap();
        if number > 1_000 && lost.is_none() && matches!(update, Update::Depth(_)) {
            lost = Some(update.symbol());
            continue;
        }
        let symbol = update.symbol();
        let (change, book) = books.apply(update).unwrap();
        if change.gap {
            assert_eq!((Some(symbol), book.is_current()), (lost, false));
            let snapshot = feed.snapshot(InstrumentId::named(symbol).unwrap());
            books.apply(snapshot).unwrap();
        }
    }
    for book in books.iter() {
        let was_lost = Some(book.symbol()) == lost;
        assert!(book.is_current());
        assert_eq!(book.counts().gaps, u64::from(was_lost), "{}", book.symbol());
        let Update::Snapshot(truth) = feed.snapshot(InstrumentId::named(book.symbol()).unwrap())
        else {
            panic!("a snapshot is one");
        };
        let (bids, asks): (Levels, Levels) = (book.bids().collect(), book.asks().collect());
        assert_eq!((bids, asks), (truth.bids, truth.asks), "{}", book.symbol());
    }
    assert!(lost.is_some());
}
