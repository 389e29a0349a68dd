//! The best prices of a book as a few words, so that they stand in place in a plain signal.

use super::{Book, Decimal, Level, Top};

/// Words of [`Best`]: 48 bytes, of the 64 that a plain signal holds.
pub const BEST_WORDS: usize = 6;

const HAS_BID: u64 = 1;
const HAS_ASK: u64 = 2;

/// The best prices of a book, and the id up to which the book was built then.
///
/// ```
/// use corelane_examples::feed::{BEST_WORDS, Best, Decimal, Level, Top};
///
/// let bid = Level { price: Decimal::parse("6050.25")?, quantity: Decimal::parse("3")? };
/// let best = Best { id: 9, top: Top { bid: Some(bid), ask: None } };
/// let words: [u64; BEST_WORDS] = best.to_words();
/// assert_eq!(Best::from_words(words), best);
/// # Ok::<(), corelane_examples::feed::DecimalError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Best {
    /// The id of the last update that the book has.
    pub id: u64,
    /// Its best levels.
    pub top: Top,
}

impl Best {
    /// What it is as words.
    pub fn to_words(self) -> [u64; BEST_WORDS] {
        let level = |level: Option<Level>| {
            level.map_or([0, 0], |level| {
                [level.price, level.quantity].map(|number| number.units().cast_unsigned())
            })
        };
        let [bid, bid_quantity] = level(self.top.bid);
        let [ask, ask_quantity] = level(self.top.ask);
        let sides = if self.top.bid.is_some() { HAS_BID } else { 0 }
            | if self.top.ask.is_some() { HAS_ASK } else { 0 };
        [self.id, sides, bid, bid_quantity, ask, ask_quantity]
    }

    /// What [`to_words`](Self::to_words) made words of.
    pub fn from_words(words: [u64; BEST_WORDS]) -> Self {
        let [id, sides, bid, bid_quantity, ask, ask_quantity] = words;
        let level = |side: u64, price: u64, quantity: u64| {
            let [price, quantity] =
                [price, quantity].map(|units| Decimal::from_units(units.cast_signed()));
            (sides & side != 0).then_some(Level { price, quantity })
        };
        Self {
            id,
            top: Top {
                bid: level(HAS_BID, bid, bid_quantity),
                ask: level(HAS_ASK, ask, ask_quantity),
            },
        }
    }
}

impl From<&Book> for Best {
    fn from(book: &Book) -> Self {
        Self {
            id: book.last_id(),
            top: book.top(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_best_comes_back_from_its_words() {
        let level = |price, quantity| Level {
            price: Decimal::from_units(price),
            quantity: Decimal::from_units(quantity),
        };
        let sides = [
            None,
            Some(level(0, 0)),
            Some(level(i64::MIN, i64::MAX)),
            Some(level(-1, 1)),
        ];
        for id in [0, 1, u64::MAX] {
            for bid in sides {
                for ask in sides {
                    let top = Top { bid, ask };
                    let best = Best { id, top };
                    assert_eq!(Best::from_words(best.to_words()), best);
                }
            }
        }
    }
}
