//! From the updates of one instrument to words.
//!
//! Owner: the decoder of that instrument. A word names the level that it changes, which an update
//! does not, so the packer knows the prices that are shown.

use smallvec::smallvec;

use super::word::{Action, LEVEL_MAX, Quote, SEQUENCES, SIZE_END, Side, TICKS_END, WordError};
use crate::feed::{Decimal, Depth, InstrumentId, Level, Levels, Snapshot};

const UNITS_A_CONTRACT: i64 = 100_000_000;

/// Packs the updates of one instrument.
///
/// Every word takes the next sequence number of the instrument. After an error the packer has lost
/// its place until [`restart`](Self::restart); the number that it takes for what it could not pack
/// makes the receiver see the hole.
///
/// ```
/// use corelane_examples::feed::{Generator, InstrumentId, Update};
/// use corelane_examples::words::{Packer, Quote};
///
/// let id = InstrumentId::named("ES".parse()?).unwrap();
/// let mut feed = Generator::of(1, id);
/// let Some(Update::Snapshot(snapshot)) = feed.next() else { unreachable!() };
/// let mut packer = Packer::new(id, snapshot.last_update_id);
/// packer.restart(snapshot)?;
/// let mut words = Vec::new();
/// for update in feed.take(100) {
///     if let Update::Depth(depth) = update {
///         packer.pack(&depth, &mut words)?;
///     }
/// }
/// assert_eq!(Quote::unpack(words[0])?.level, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Packer {
    id: InstrumentId,
    tick_units: i64,
    bids: Ladder,
    asks: Ladder,
    sequence: u64,
}

impl Packer {
    /// A packer whose first word has the number behind `sequence`. No price is shown yet.
    pub fn new(id: InstrumentId, sequence: u64) -> Self {
        Self {
            id,
            tick_units: id.instrument().tick().units(),
            bids: Ladder::new(Side::Bid),
            asks: Ladder::new(Side::Ask),
            sequence,
        }
    }

    /// The number of the last word, or of the last place that has none.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Goes on from `snapshot`, and gives it the number that it has among the words.
    ///
    /// # Errors
    ///
    /// [`WordError`] when a level of it fits no word.
    pub fn restart(&mut self, snapshot: Snapshot) -> Result<Snapshot, WordError> {
        self.bids.len = 0;
        self.asks.len = 0;
        for level in snapshot.bids.iter().chain(&snapshot.asks) {
            self.size(level.quantity)?;
        }
        for (side, levels) in [(Side::Bid, &snapshot.bids), (Side::Ask, &snapshot.asks)] {
            for level in levels {
                let ticks = self.ticks(level.price)?;
                self.ladder(side).set(ticks)?;
            }
        }
        Ok(Snapshot {
            last_update_id: self.sequence,
            ..snapshot
        })
    }

    /// Packs `depth` behind what `words` holds, a word a level: those that go first, so that no
    /// book is ever crossed in between.
    ///
    /// # Errors
    ///
    /// [`WordError`] when a level fits no word; then `words` is as before.
    pub fn pack(&mut self, depth: &Depth, words: &mut Vec<u64>) -> Result<(), WordError> {
        let (count, sequence) = (words.len(), self.sequence);
        let packed = self.pack_levels(depth, words);
        if packed.is_err() {
            words.truncate(count);
            self.sequence = sequence + 1;
        }
        packed
    }

    fn pack_levels(&mut self, depth: &Depth, words: &mut Vec<u64>) -> Result<(), WordError> {
        for is_removal in [true, false] {
            for (side, levels) in [(Side::Bid, &depth.bids), (Side::Ask, &depth.asks)] {
                let now = |level: &&Level| level.quantity.is_zero() == is_removal;
                for level in levels.iter().filter(now) {
                    words.push(self.pack_level(side, level)?);
                }
            }
        }
        Ok(())
    }

    fn pack_level(&mut self, side: Side, level: &Level) -> Result<u64, WordError> {
        let ticks = self.ticks(level.price)?;
        let size = self.size(level.quantity)?;
        let ladder = self.ladder(side);
        let (action, level) = match size {
            0 => (Action::Remove, ladder.remove(ticks)?),
            _ => ladder.set(ticks)?,
        };
        self.sequence += 1;
        let quote = Quote {
            instrument: self.id.index() as u16,
            ticks,
            size,
            level,
            side,
            action,
            sequence: (self.sequence % SEQUENCES) as u8,
        };
        quote.pack()
    }

    fn ticks(&self, price: Decimal) -> Result<u32, WordError> {
        let units = price.units();
        if units % self.tick_units != 0 {
            return Err(WordError::OffTick(units));
        }
        let ticks = units / self.tick_units;
        let fitting = u32::try_from(ticks).ok().filter(|fit| *fit < TICKS_END);
        fitting.ok_or(WordError::Ticks(ticks))
    }

    fn size(&self, quantity: Decimal) -> Result<u16, WordError> {
        let units = quantity.units();
        if units % UNITS_A_CONTRACT != 0 {
            return Err(WordError::Fraction(units));
        }
        let contracts = units / UNITS_A_CONTRACT;
        let fitting = u16::try_from(contracts).ok().filter(|fit| *fit < SIZE_END);
        fitting.ok_or(WordError::Size(contracts))
    }

    fn ladder(&mut self, side: Side) -> &mut Ladder {
        match side {
            Side::Bid => &mut self.bids,
            Side::Ask => &mut self.asks,
        }
    }
}

impl Quote {
    /// How many numbers are missing where `next` is due, as far as five bits tell: modulo 32.
    pub fn missing_from(&self, next: u64) -> u64 {
        u64::from(self.sequence).wrapping_sub(next) % SEQUENCES
    }

    /// The quote as an update of that instrument, with its whole sequence number.
    pub fn depth(&self, id: InstrumentId, sequence: u64) -> Depth {
        let instrument = id.instrument();
        let level = Level {
            price: Decimal::from_units(i64::from(self.ticks) * instrument.tick().units()),
            quantity: Decimal::from_units(i64::from(self.size) * UNITS_A_CONTRACT),
        };
        let (bids, asks) = match self.side {
            Side::Bid => (smallvec![level], Levels::new()),
            Side::Ask => (Levels::new(), smallvec![level]),
        };
        Depth {
            symbol: instrument.symbol(),
            first_id: sequence,
            last_id: sequence,
            bids,
            asks,
        }
    }
}

/// The prices of one side, from the best one on.
#[derive(Clone, Debug)]
struct Ladder {
    side: Side,
    ticks: [u32; LEVEL_MAX as usize],
    len: usize,
}

impl Ladder {
    fn new(side: Side) -> Self {
        Self {
            side,
            ticks: [0; LEVEL_MAX as usize],
            len: 0,
        }
    }

    /// Where `ticks` stands, or would.
    fn find(&self, ticks: u32) -> Result<usize, usize> {
        let side = self.side;
        self.ticks[..self.len].binary_search_by(|other| match side {
            Side::Bid => ticks.cmp(other),
            Side::Ask => other.cmp(&ticks),
        })
    }

    /// Shows a price, if it is not shown yet; says its level.
    fn set(&mut self, ticks: u32) -> Result<(Action, u8), WordError> {
        let place = match self.find(ticks) {
            Ok(place) => return Ok((Action::Change, place as u8 + 1)),
            Err(place) => place,
        };
        if self.len == self.ticks.len() {
            // One would be pushed out of sight, which no word says.
            return Err(WordError::Level(LEVEL_MAX + 1));
        }
        self.ticks.copy_within(place..self.len, place + 1);
        self.ticks[place] = ticks;
        self.len += 1;
        Ok((Action::New, place as u8 + 1))
    }

    /// Shows a price no more; says the level that it had.
    fn remove(&mut self, ticks: u32) -> Result<u8, WordError> {
        let place = self.find(ticks).map_err(|_| WordError::Missing(ticks))?;
        self.ticks.copy_within(place + 1..self.len, place);
        self.len -= 1;
        Ok(place as u8 + 1)
    }
}
