//! One change of one level, in 64 bits.
//!
//! From the highest bit down: five zeros, 11 bits of instrument, 21 of price in ticks, 14 of size,
//! 4 of level, 2 of side, 2 of action, and the 5 lowest of the sequence number. What does not fit
//! is an error and never cut to fit: a wrong price is worse than none.

/// Instruments that a word can name.
pub const INSTRUMENTS_MAX: u16 = 1 << 11;
/// Prices, in ticks, end below this.
pub const TICKS_END: u32 = 1 << 21;
/// Sizes, in contracts, end below this.
pub const SIZE_END: u16 = 1 << 14;
/// The deepest level; the best one is 1.
pub const LEVEL_MAX: u8 = 10;
/// What a word has of its sequence number comes round after so many.
pub const SEQUENCES: u64 = 1 << SEQUENCE_BITS;
/// Bits that a word uses; the others are zero.
pub const WORD_BITS: u32 = INSTRUMENT_SHIFT + 11;

const SEQUENCE_BITS: u32 = 5;
const ACTION_SHIFT: u32 = SEQUENCE_BITS;
const SIDE_SHIFT: u32 = ACTION_SHIFT + 2;
const LEVEL_SHIFT: u32 = SIDE_SHIFT + 2;
const SIZE_SHIFT: u32 = LEVEL_SHIFT + 4;
const TICKS_SHIFT: u32 = SIZE_SHIFT + 14;
const INSTRUMENT_SHIFT: u32 = TICKS_SHIFT + 21;

/// A side of a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// What is bid.
    Bid,
    /// What is asked.
    Ask,
}

/// What happens to a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A price that was not there comes in.
    New,
    /// The size at a price is another one.
    Change,
    /// A price goes.
    Remove,
}

/// One change of one level.
///
/// ```
/// use corelane_examples::words::{Action, Quote, Side, WordError};
///
/// let quote = Quote {
///     instrument: 0,
///     ticks: 24_200,
///     size: 17,
///     level: 1,
///     side: Side::Bid,
///     action: Action::Change,
///     sequence: 12,
/// };
/// let word = quote.pack()?;
/// assert_eq!(Quote::unpack(word)?, quote);
/// let deep = Quote { level: 11, ..quote };
/// assert_eq!(deep.pack(), Err(WordError::Level(11)));
/// # Ok::<(), WordError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote {
    /// The place of the instrument in its table, below [`INSTRUMENTS_MAX`].
    pub instrument: u16,
    /// The price in ticks, below [`TICKS_END`].
    pub ticks: u32,
    /// Contracts at that price from now on, below [`SIZE_END`]: zero for a removal, and for
    /// nothing else.
    pub size: u16,
    /// From the best price on: 1 to [`LEVEL_MAX`].
    pub level: u8,
    /// Of which side.
    pub side: Side,
    /// What happens there.
    pub action: Action,
    /// The sequence number of the instrument, modulo [`SEQUENCES`].
    pub sequence: u8,
}

impl Quote {
    /// The quote as a word.
    ///
    /// # Errors
    ///
    /// [`WordError`] names the first field that does not fit.
    pub fn pack(&self) -> Result<u64, WordError> {
        self.check()?;
        Ok(u64::from(self.instrument) << INSTRUMENT_SHIFT
            | u64::from(self.ticks) << TICKS_SHIFT
            | u64::from(self.size) << SIZE_SHIFT
            | u64::from(self.level) << LEVEL_SHIFT
            | u64::from(self.side.code()) << SIDE_SHIFT
            | u64::from(self.action.code()) << ACTION_SHIFT
            | u64::from(self.sequence))
    }

    /// The quote of a word.
    ///
    /// # Errors
    ///
    /// [`WordError`] names the first field that no quote has.
    pub fn unpack(word: u64) -> Result<Self, WordError> {
        if word >> WORD_BITS != 0 {
            return Err(WordError::Unused(word));
        }
        let quote = Self {
            instrument: field(word, INSTRUMENT_SHIFT, 11) as u16,
            ticks: field(word, TICKS_SHIFT, 21) as u32,
            size: field(word, SIZE_SHIFT, 14) as u16,
            level: field(word, LEVEL_SHIFT, 4) as u8,
            side: Side::of(field(word, SIDE_SHIFT, 2) as u8)?,
            action: Action::of(field(word, ACTION_SHIFT, 2) as u8)?,
            sequence: field(word, 0, SEQUENCE_BITS) as u8,
        };
        quote.check()?;
        Ok(quote)
    }

    fn check(&self) -> Result<(), WordError> {
        if self.instrument >= INSTRUMENTS_MAX {
            return Err(WordError::Instrument(self.instrument));
        }
        if self.ticks >= TICKS_END {
            return Err(WordError::Ticks(i64::from(self.ticks)));
        }
        let is_removal = self.action == Action::Remove;
        if self.size >= SIZE_END || (self.size == 0) != is_removal {
            return Err(WordError::Size(i64::from(self.size)));
        }
        if !(1..=LEVEL_MAX).contains(&self.level) {
            return Err(WordError::Level(self.level));
        }
        if u64::from(self.sequence) >= SEQUENCES {
            return Err(WordError::Sequence(self.sequence));
        }
        Ok(())
    }
}

fn field(word: u64, shift: u32, bits: u32) -> u64 {
    word >> shift & ((1 << bits) - 1)
}

impl Side {
    fn code(self) -> u8 {
        match self {
            Self::Bid => 0,
            Self::Ask => 1,
        }
    }

    fn of(code: u8) -> Result<Self, WordError> {
        match code {
            0 => Ok(Self::Bid),
            1 => Ok(Self::Ask),
            _ => Err(WordError::Side(code)),
        }
    }

    /// The one against it.
    pub fn other(self) -> Self {
        match self {
            Self::Bid => Self::Ask,
            Self::Ask => Self::Bid,
        }
    }
}

impl Action {
    fn code(self) -> u8 {
        match self {
            Self::New => 0,
            Self::Change => 1,
            Self::Remove => 2,
        }
    }

    fn of(code: u8) -> Result<Self, WordError> {
        match code {
            0 => Ok(Self::New),
            1 => Ok(Self::Change),
            2 => Ok(Self::Remove),
            _ => Err(WordError::Action(code)),
        }
    }
}

/// Why an update is no word, or a word no update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WordError {
    /// The instrument does not fit, or is in no table.
    #[error("instrument {0} is not known")]
    Instrument(u16),
    /// The price does not fit.
    #[error("a price of {0} ticks does not fit")]
    Ticks(i64),
    /// The price, in units of 10^-8, lies between two ticks.
    #[error("a price of {0} units is off the tick")]
    OffTick(i64),
    /// The size does not fit, or is zero where something is left, or not where nothing is.
    #[error("a size of {0} contracts does not fit")]
    Size(i64),
    /// The quantity, in units of 10^-8, is no number of whole contracts.
    #[error("a quantity of {0} units is no number of contracts")]
    Fraction(i64),
    /// The level is not in 1 to [`LEVEL_MAX`].
    #[error("level {0} is not in 1 to 10")]
    Level(u8),
    /// The side is none.
    #[error("side {0} is none")]
    Side(u8),
    /// The action is none.
    #[error("action {0} is none")]
    Action(u8),
    /// The sequence number has more than its five bits.
    #[error("sequence number {0} has more than five bits")]
    Sequence(u8),
    /// Bits are set that no word uses.
    #[error("the word {0:#x} has bits that none uses")]
    Unused(u64),
    /// A price goes that is not there.
    #[error("a price of {0} ticks goes that is not there")]
    Missing(u32),
}
