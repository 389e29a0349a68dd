//! What the feed says, once decoded.

use smallvec::SmallVec;

use super::{Decimal, Symbol};

/// One price of a book and how much rests there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Level {
    /// The price.
    pub price: Decimal,
    /// The quantity; in a [`Depth`] zero removes the price.
    pub quantity: Decimal,
}

/// Levels of one side. Two of them stand in the update itself: most updates have no more, and
/// memory that one core takes and another gives back is dear.
pub type Levels = SmallVec<[Level; 2]>;

/// A whole book at one id, from which later updates go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Whose book it is.
    pub symbol: Symbol,
    /// The id of the last update that the book holds.
    pub last_update_id: u64,
    /// What is bid, in no particular order.
    pub bids: Levels,
    /// What is asked, in no particular order.
    pub asks: Levels,
}

/// Changes of a book's levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Depth {
    /// Whose book changes.
    pub symbol: Symbol,
    /// The first id that this update covers (`U`).
    pub first_id: u64,
    /// The last id that this update covers (`u`), never below the first.
    pub last_id: u64,
    /// Changed bids.
    pub bids: Levels,
    /// Changed asks.
    pub asks: Levels,
}

/// One trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trade {
    /// What was traded.
    pub symbol: Symbol,
    /// The venue's id of the trade.
    pub id: u64,
    /// The price.
    pub price: Decimal,
    /// The quantity.
    pub quantity: Decimal,
}

/// The best bid and ask as the venue sends them beside its depth updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticker {
    /// Whose best prices these are.
    pub symbol: Symbol,
    /// The id of the update that led to them.
    pub id: u64,
    /// The best bid.
    pub bid: Level,
    /// The best ask.
    pub ask: Level,
}

/// One message of the feed.
///
/// ```
/// use corelane_examples::feed::Generator;
///
/// let first = Generator::new(1).next().unwrap();
/// assert_eq!(first.symbol().as_str(), "ES");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Update {
    /// A whole book.
    Snapshot(Snapshot),
    /// Changed levels.
    Depth(Depth),
    /// A trade.
    Trade(Trade),
    /// Best prices.
    Ticker(Ticker),
}

impl Update {
    /// Whom the message is about.
    pub fn symbol(&self) -> Symbol {
        match self {
            Self::Snapshot(snapshot) => snapshot.symbol,
            Self::Depth(depth) => depth.symbol,
            Self::Trade(trade) => trade.symbol,
            Self::Ticker(ticker) => ticker.symbol,
        }
    }
}

/// A decoded message with the time that stands before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// When the recorder received it, in ns of its clock.
    pub received_ns: u64,
    /// The number of its line in its input, from one.
    pub line: u64,
    /// The message.
    pub update: Update,
}
