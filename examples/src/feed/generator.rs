//! The embedded feed: five futures whose books move like those of a real venue.
//!
//! Each instrument shows ten levels a side, one tick apart, as CME's market-by-price feed does.
//! Quantities change near the best prices most often, trades take from them, and a side that is
//! used up moves the price by a tick. Ids of an instrument are contiguous. A seed always gives the
//! same feed.

use smallvec::smallvec;

use super::instrument::InstrumentId;
use super::random::Random;
use super::{Decimal, Depth, Level, Levels, Snapshot, Symbol, Ticker, Trade, Update};
use crate::words::Side;

/// Levels that the embedded feed shows a side.
pub const LEVELS_SHOWN: usize = 10;

/// Largest quantity that a level of the embedded feed gets, in contracts.
const CONTRACTS_MAX: u32 = 400;

/// Largest number of ids that one depth update covers.
const IDS_A_DEPTH_MAX: u32 = 4;

/// An endless feed; as an iterator it gives a snapshot an instrument first.
///
/// ```
/// use corelane_examples::feed::{Generator, Update};
///
/// let same: Vec<Update> = Generator::new(7).take(100).collect();
/// assert_eq!(same, Generator::new(7).take(100).collect::<Vec<_>>());
/// assert!(same[..5].iter().all(|update| matches!(update, Update::Snapshot(_))));
/// ```
#[derive(Clone, Debug)]
pub struct Generator {
    random: Random,
    markets: Vec<Market>,
    // How many instruments have shown their first snapshot.
    opened: usize,
    // The depth update that a trade leads to.
    next: Option<Update>,
}

impl Generator {
    /// The feed of that seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let markets = InstrumentId::all()
            .map(|id| Market::open(id, &mut random))
            .collect();
        Self {
            random,
            markets,
            opened: 0,
            next: None,
        }
    }

    /// The feed of one instrument alone, so that each can come from a core of its own.
    ///
    /// ```
    /// use corelane_examples::feed::{Generator, InstrumentId};
    ///
    /// let gold = InstrumentId::named("GC".parse()?).unwrap();
    /// assert!(Generator::of(1, gold).take(100).all(|update| update.symbol().as_str() == "GC"));
    /// # Ok::<(), corelane_examples::feed::SymbolError>(())
    /// ```
    pub fn of(seed: u64, id: InstrumentId) -> Self {
        let mut random = Random::new(seed ^ id.instrument().symbol().spread());
        let markets = vec![Market::open(id, &mut random)];
        Self {
            random,
            markets,
            opened: 0,
            next: None,
        }
    }

    /// The whole book of an instrument as it is now, for a receiver that has lost its place.
    ///
    /// It joins the next update of that instrument.
    ///
    /// # Panics
    ///
    /// When the feed is that of another instrument.
    pub fn snapshot(&self, id: InstrumentId) -> Update {
        let market = self.markets.iter().find(|market| market.id == id);
        market.expect("the feed has this instrument").snapshot()
    }

    /// Whether the next update is none that the last one leads to, so that a snapshot stands
    /// between the two.
    pub fn is_settled(&self) -> bool {
        self.next.is_none()
    }

    fn step(&mut self) -> Update {
        if let Some(next) = self.next.take() {
            return next;
        }
        let chosen = self.random.below(self.markets.len() as u32) as usize;
        let market = &mut self.markets[chosen];
        // The shares are near those of a quiet future: most messages only change quantities.
        match self.random.below(100) {
            0..70 => market.change_quantities(&mut self.random),
            70..85 => {
                let (trade, depth) = market.trade(&mut self.random);
                self.next = Some(depth);
                trade
            }
            85..93 => market.move_price(&mut self.random),
            _ => market.ticker(),
        }
    }
}

impl Iterator for Generator {
    type Item = Update;

    /// Gives the next update; there always is one.
    fn next(&mut self) -> Option<Update> {
        if let Some(market) = self.markets.get(self.opened) {
            self.opened += 1;
            return Some(market.snapshot());
        }
        Some(self.step())
    }
}

/// One instrument's book: `LEVELS_SHOWN` prices a side without holes, the best ones a tick apart.
#[derive(Clone, Debug)]
struct Market {
    id: InstrumentId,
    symbol: Symbol,
    best_bid_ticks: i64,
    // Contracts a level, from the best price on.
    bids: [u32; LEVELS_SHOWN],
    asks: [u32; LEVELS_SHOWN],
    last_id: u64,
    last_trade_id: u64,
}

impl Market {
    fn open(id: InstrumentId, random: &mut Random) -> Self {
        let mut market = Self {
            id,
            symbol: id.instrument().symbol(),
            best_bid_ticks: id.instrument().opening_ticks(),
            bids: [0; LEVELS_SHOWN],
            asks: [0; LEVELS_SHOWN],
            last_id: u64::from(1 + random.below(1_000_000)),
            last_trade_id: u64::from(random.below(1_000_000)),
        };
        for level in 0..LEVELS_SHOWN {
            market.bids[level] = contracts(random);
            market.asks[level] = contracts(random);
        }
        market
    }

    fn snapshot(&self) -> Update {
        let all = |side| {
            (0..LEVELS_SHOWN)
                .map(|level| self.level(side, level))
                .collect()
        };
        Update::Snapshot(Snapshot {
            symbol: self.symbol,
            last_update_id: self.last_id,
            bids: all(Side::Bid),
            asks: all(Side::Ask),
        })
    }

    fn ticker(&self) -> Update {
        Update::Ticker(Ticker {
            symbol: self.symbol,
            id: self.last_id,
            bid: self.level(Side::Bid, 0),
            ask: self.level(Side::Ask, 0),
        })
    }

    /// New quantities at one to three levels.
    fn change_quantities(&mut self, random: &mut Random) -> Update {
        let (mut bids, mut asks) = (Levels::new(), Levels::new());
        for _ in 0..=random.below(3) {
            let level = near_best(random);
            let side = if random.below(2) == 0 {
                Side::Bid
            } else {
                Side::Ask
            };
            self.contracts_mut(side)[level] = contracts(random);
            let changed = self.level(side, level);
            match side {
                Side::Bid => bids.push(changed),
                Side::Ask => asks.push(changed),
            }
        }
        self.depth(random, bids, asks)
    }

    /// A trade at a best price, and what it leaves of the book.
    fn trade(&mut self, random: &mut Random) -> (Update, Update) {
        let side = if random.below(2) == 0 {
            Side::Bid
        } else {
            Side::Ask
        };
        let resting = self.contracts_mut(side)[0];
        // A quarter of the trades take all that rests there.
        let all = random.below(4) == 0;
        let taken = if all {
            resting
        } else {
            1 + random.below(resting)
        };
        let trade = Update::Trade(Trade {
            symbol: self.symbol,
            id: self.last_trade_id + 1,
            price: self.level(side, 0).price,
            quantity: quantity(taken),
        });
        self.last_trade_id += 1;
        if taken == resting {
            return (trade, self.use_up(side, random));
        }
        self.contracts_mut(side)[0] -= taken;
        let left = smallvec![self.level(side, 0)];
        let (bids, asks) = match side {
            Side::Bid => (left, Levels::new()),
            Side::Ask => (Levels::new(), left),
        };
        (trade, self.depth(random, bids, asks))
    }

    fn move_price(&mut self, random: &mut Random) -> Update {
        let side = if random.below(2) == 0 {
            Side::Bid
        } else {
            Side::Ask
        };
        self.use_up(side, random)
    }

    /// Takes the best price of a side away, so that the market moves a tick towards that side.
    fn use_up(&mut self, side: Side, random: &mut Random) -> Update {
        let opening = self.id.instrument().opening_ticks();
        // Within half of the opening price both ways, prices neither reach zero nor run off.
        let side = match side {
            Side::Bid if self.best_bid_ticks <= opening / 2 => Side::Ask,
            Side::Ask if self.best_bid_ticks >= opening + opening / 2 => Side::Bid,
            Side::Bid | Side::Ask => side,
        };
        let other = side.other();
        let gone = [self.emptied(side, 0), self.emptied(other, LEVELS_SHOWN - 1)];
        self.contracts_mut(side).rotate_left(1);
        self.contracts_mut(side)[LEVELS_SHOWN - 1] = contracts(random);
        self.contracts_mut(other).rotate_right(1);
        self.contracts_mut(other)[0] = contracts(random);
        self.best_bid_ticks += if side == Side::Bid { -1 } else { 1 };
        let shrunk = smallvec![gone[0], self.level(side, LEVELS_SHOWN - 1)];
        let moved = smallvec![gone[1], self.level(other, 0)];
        let (bids, asks) = match side {
            Side::Bid => (shrunk, moved),
            Side::Ask => (moved, shrunk),
        };
        self.depth(random, bids, asks)
    }

    fn depth(&mut self, random: &mut Random, bids: Levels, asks: Levels) -> Update {
        let first_id = self.last_id + 1;
        self.last_id += u64::from(1 + random.below(IDS_A_DEPTH_MAX));
        Update::Depth(Depth {
            symbol: self.symbol,
            first_id,
            last_id: self.last_id,
            bids,
            asks,
        })
    }

    fn level(&self, side: Side, level: usize) -> Level {
        let (ticks, contracts) = match side {
            Side::Bid => (self.best_bid_ticks - level as i64, self.bids[level]),
            Side::Ask => (self.best_bid_ticks + 1 + level as i64, self.asks[level]),
        };
        let tick_units = self.id.instrument().tick().units();
        let price = Decimal::from_units(ticks * tick_units);
        Level {
            price,
            quantity: quantity(contracts),
        }
    }

    fn emptied(&self, side: Side, level: usize) -> Level {
        Level {
            quantity: Decimal::ZERO,
            ..self.level(side, level)
        }
    }

    fn contracts_mut(&mut self, side: Side) -> &mut [u32; LEVELS_SHOWN] {
        match side {
            Side::Bid => &mut self.bids,
            Side::Ask => &mut self.asks,
        }
    }
}

/// A quantity for a level: at least one contract, since no level of a book is empty.
fn contracts(random: &mut Random) -> u32 {
    1 + random.below(CONTRACTS_MAX)
}

fn quantity(contracts: u32) -> Decimal {
    Decimal::from_units(i64::from(contracts) * 100_000_000)
}

/// A level, each half as likely as the one before it.
fn near_best(random: &mut Random) -> usize {
    let draw = random.below(1 << LEVELS_SHOWN);
    (draw.trailing_zeros() as usize).min(LEVELS_SHOWN - 1)
}
