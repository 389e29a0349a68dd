//! Risk limits.
//!
//! Owner: the control side makes each version of the limits from the one before; see `risk` for who
//! acts on them.

use std::collections::BTreeMap;
use std::str::FromStr;

use super::{Decimal, DecimalError, Symbol, SymbolError};

/// What may be traded of one symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The largest quantity of one order, each trade being one.
    pub order_max: Decimal,
    /// The largest position: the sum of the orders since the symbol has a limit.
    pub position_max: Decimal,
}

/// The limits of all symbols, as one version.
///
/// ```
/// use corelane_examples::feed::{Decimal, Limit, Limits};
///
/// let first = Limits::default();
/// let (order_max, position_max) = (Decimal::parse("50")?, Decimal::parse("1000")?);
/// let second = first.with("ES".parse()?, Limit { order_max, position_max });
/// assert_eq!((first.number(), second.number()), (0, 1));
/// assert!(first.of("ES".parse()?).is_none());
/// assert_eq!(second.of("ES".parse()?).map(|limit| limit.order_max), Some(order_max));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    number: u64,
    rows: BTreeMap<Symbol, Limit>,
}

/// Symbols that can have a limit, at most: the table is copied at each change.
pub const LIMITS_MAX: usize = 4096;

impl Limits {
    /// The first version, with these limits in it.
    pub fn new(rows: impl IntoIterator<Item = NamedLimit>) -> Self {
        let rows = rows.into_iter().map(|named| (named.symbol, named.limit));
        Self {
            number: 0,
            rows: rows.collect(),
        }
    }

    /// The next version, with this limit. One of a new symbol is not taken when there are
    /// [`LIMITS_MAX`]; the version is the next one all the same.
    pub fn with(&self, symbol: Symbol, limit: Limit) -> Self {
        let mut next = self.clone();
        next.number += 1;
        if self.has_room_for(symbol) {
            next.rows.insert(symbol, limit);
        }
        next
    }

    /// Whether the symbol can have a limit.
    pub fn has_room_for(&self, symbol: Symbol) -> bool {
        self.rows.len() < LIMITS_MAX || self.rows.contains_key(&symbol)
    }

    /// Which version it is: zero for the first, and one more for each change.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The limit of a symbol, if it has one.
    pub fn of(&self, symbol: Symbol) -> Option<Limit> {
        self.rows.get(&symbol).copied()
    }

    /// All of them, by their symbols.
    pub fn iter(&self) -> impl Iterator<Item = (Symbol, Limit)> {
        self.rows.iter().map(|(symbol, limit)| (*symbol, *limit))
    }

    /// How many symbols have one.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether no symbol has one.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// A limit as the command line has it: `SYMBOL=ORDER:POSITION`.
///
/// ```
/// use corelane_examples::feed::NamedLimit;
///
/// let named: NamedLimit = "ES=50:1000".parse()?;
/// assert_eq!(named.limit.position_max.to_string(), "1000");
/// # Ok::<(), corelane_examples::feed::NamedLimitError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedLimit {
    /// Whose limit.
    pub symbol: Symbol,
    /// The limit.
    pub limit: Limit,
}

impl NamedLimit {
    /// Reads the three parts.
    ///
    /// # Errors
    ///
    /// [`NamedLimitError`] says which part is wrong.
    pub fn of_parts(symbol: &str, order: &str, position: &str) -> Result<Self, NamedLimitError> {
        let quantity = |text| match Decimal::parse(text) {
            Ok(quantity) if quantity < Decimal::ZERO => Err(DecimalError::Sign),
            parsed => parsed,
        };
        Ok(Self {
            symbol: symbol.parse().map_err(NamedLimitError::Symbol)?,
            limit: Limit {
                order_max: quantity(order).map_err(NamedLimitError::Order)?,
                position_max: quantity(position).map_err(NamedLimitError::Position)?,
            },
        })
    }
}

impl FromStr for NamedLimit {
    type Err = NamedLimitError;

    fn from_str(text: &str) -> Result<Self, NamedLimitError> {
        let (symbol, limits) = text.split_once('=').ok_or(NamedLimitError::Form)?;
        let (order, position) = limits.split_once(':').ok_or(NamedLimitError::Form)?;
        Self::of_parts(symbol, order, position)
    }
}

/// Why a text is no [`NamedLimit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NamedLimitError {
    /// A part is missing.
    #[error("it has the form SYMBOL=ORDER:POSITION")]
    Form,
    /// What stands first is no symbol.
    #[error("{0}")]
    Symbol(#[source] SymbolError),
    /// The limit of an order is no quantity.
    #[error("the limit of an order: {0}")]
    Order(#[source] DecimalError),
    /// The limit of the position is no quantity.
    #[error("the limit of the position: {0}")]
    Position(#[source] DecimalError),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> NamedLimit {
        text.parse().unwrap()
    }

    #[test]
    fn a_bad_limit_names_its_part() {
        for (text, expected) in [
            ("ES", "it has the form SYMBOL=ORDER:POSITION"),
            ("ES=1", "it has the form SYMBOL=ORDER:POSITION"),
            ("=1:1", "a symbol has no name"),
            (
                "ES=x:1",
                "the limit of an order: a number holds more than digits and one point",
            ),
            (
                "ES=1:-1",
                "the limit of the position: a quantity has no sign",
            ),
            ("ES=1:", "the limit of the position: a number lacks a digit"),
        ] {
            let error = text.parse::<NamedLimit>().unwrap_err();
            assert_eq!(error.to_string(), expected, "{text}");
        }
    }

    #[test]
    fn a_full_table_still_changes_what_it_has() {
        let rows = (0..LIMITS_MAX).map(|number| named(&format!("S{number}=1:1")));
        let full = Limits::new(rows);
        let limit = named("S1=7:7");
        assert_eq!(full.len(), LIMITS_MAX);
        let changed = full.with(limit.symbol, limit.limit);
        assert_eq!(changed.of(limit.symbol), Some(limit.limit));
        let limit = named("NEW=7:7");
        assert!(!full.has_room_for(limit.symbol));
        assert_eq!(full.with(limit.symbol, limit.limit).of(limit.symbol), None);
    }
}
