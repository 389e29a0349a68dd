//! The futures that the generator trades.

use super::{Decimal, Symbol};

/// The place of an instrument in [`INSTRUMENTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstrumentId(u16);

impl InstrumentId {
    /// All instruments, in table order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..INSTRUMENTS.len() as u16).map(Self)
    }

    /// The row of the table.
    pub fn instrument(self) -> &'static Instrument {
        &INSTRUMENTS[usize::from(self.0)]
    }

    /// The instrument of that name, if the table has it.
    pub fn named(symbol: Symbol) -> Option<Self> {
        Self::all().find(|id| id.instrument().symbol == symbol)
    }

    /// The place in the table.
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// What is fixed about one future.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instrument {
    // Asked for at every word, so it is made once.
    symbol: Symbol,
    title: &'static str,
    tick: Decimal,
    decimals: u8,
    opening_ticks: i64,
}

impl Instrument {
    const fn new(
        name: &'static str,
        title: &'static str,
        tick_units: i64,
        decimals: u8,
        opening_units: i64,
    ) -> Self {
        let tick = Decimal::from_units(tick_units);
        assert!(
            opening_units % tick_units == 0,
            "an opening price is on the tick"
        );
        Self {
            symbol: Symbol::constant(name),
            title,
            tick,
            decimals,
            opening_ticks: opening_units / tick_units,
        }
    }

    /// The symbol, such as `ES`.
    pub fn symbol(&self) -> Symbol {
        self.symbol
    }

    /// What it is, for people.
    pub fn title(&self) -> &'static str {
        self.title
    }

    /// The smallest step of its price.
    pub fn tick(&self) -> Decimal {
        self.tick
    }

    /// How many digits behind the point a price of it can have.
    pub fn decimals(&self) -> u8 {
        self.decimals
    }

    /// Where the generator's first price is, in ticks.
    pub(crate) fn opening_ticks(&self) -> i64 {
        self.opening_ticks
    }
}

/// The five futures of the embedded feed, with the ticks of their contract specifications.
pub static INSTRUMENTS: [Instrument; 5] = [
    Instrument::new("ES", "E-mini S&P 500", 25_000_000, 2, 605_000_000_000),
    Instrument::new("NQ", "E-mini Nasdaq-100", 25_000_000, 2, 2_150_000_000_000),
    Instrument::new("CL", "WTI crude oil", 1_000_000, 2, 6_850_000_000),
    Instrument::new("GC", "Gold", 10_000_000, 1, 265_000_000_000),
    // A sixty-fourth of a point is 0.015625, so its prices need six digits.
    Instrument::new("ZN", "Ten-year Treasury note", 1_562_500, 6, 11_000_000_000),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_those_of_the_contracts() {
        let ticks: Vec<_> = INSTRUMENTS
            .iter()
            .map(|row| (row.symbol().to_string(), row.tick().to_string()))
            .collect();
        let expected = [
            ("ES", "0.25"),
            ("NQ", "0.25"),
            ("CL", "0.01"),
            ("GC", "0.1"),
            ("ZN", "0.015625"),
        ];
        assert_eq!(
            ticks,
            expected.map(|(name, tick)| (name.to_owned(), tick.to_owned()))
        );
    }

    #[test]
    fn a_price_has_no_more_digits_than_the_table_says() {
        for row in &INSTRUMENTS {
            let step = 10_i64.pow(8 - u32::from(row.decimals()));
            assert_eq!(row.tick().units() % step, 0, "{}", row.title());
        }
    }

    #[test]
    fn names_find_their_rows() {
        for id in InstrumentId::all() {
            let symbol = id.instrument().symbol();
            assert_eq!(InstrumentId::named(symbol), Some(id));
            assert_eq!(symbol.as_str().parse(), Ok(symbol));
        }
        assert_eq!(InstrumentId::named("XX".parse().unwrap()), None);
    }
}
