//! A word holds what was packed, or is an error that names the field.

use corelane_examples::words::{
    Action, INSTRUMENTS_MAX, LEVEL_MAX, Quote, SEQUENCES, SIZE_END, Side, TICKS_END, WORD_BITS,
    WordError,
};
use proptest::prelude::*;

const SEQUENCE_END: u8 = SEQUENCES as u8;

fn quote() -> Quote {
    Quote {
        instrument: 3,
        ticks: 26_500,
        size: 12,
        level: 4,
        side: Side::Ask,
        action: Action::New,
        sequence: 21,
    }
}

fn any_quote() -> impl Strategy<Value = Quote> {
    let sides = prop_oneof![Just(Side::Bid), Just(Side::Ask)];
    let changes = (
        prop_oneof![Just(Action::New), Just(Action::Change)],
        1..SIZE_END,
    );
    let actions = prop_oneof![changes, Just((Action::Remove, 0))];
    (
        0..INSTRUMENTS_MAX,
        0..TICKS_END,
        actions,
        1..=LEVEL_MAX,
        sides,
        0..SEQUENCE_END,
    )
        .prop_map(
            |(instrument, ticks, (action, size), level, side, sequence)| Quote {
                instrument,
                ticks,
                size,
                level,
                side,
                action,
                sequence,
            },
        )
}

proptest! {
    #[test]
    fn every_quote_survives_its_word(quote in any_quote()) {
        let word = quote.pack().unwrap();
        prop_assert_eq!(word >> WORD_BITS, 0);
        prop_assert_eq!(Quote::unpack(word), Ok(quote));
    }

    #[test]
    fn a_word_is_one_quote_or_none(word in any::<u64>(), unused in 0..=WORD_BITS) {
        // With few bits many words are quotes.
        let word = word >> (64 - WORD_BITS + unused % 2 * 5);
        if let Ok(quote) = Quote::unpack(word) {
            prop_assert_eq!(quote.pack(), Ok(word));
        }
    }

    #[test]
    fn what_fits_no_field_is_never_cut_to_fit(
        (instrument, ticks, size) in (any::<u16>(), any::<u32>(), any::<u16>()),
        (level, sequence) in (any::<u8>(), any::<u8>()),
    ) {
        let quote = Quote { instrument, ticks, size, level, sequence, ..quote() };
        let fits = instrument < INSTRUMENTS_MAX
            && ticks < TICKS_END
            && (1..SIZE_END).contains(&size)
            && (1..=LEVEL_MAX).contains(&level)
            && sequence < SEQUENCE_END;
        match quote.pack() {
            Ok(word) => prop_assert_eq!((fits, Quote::unpack(word)), (true, Ok(quote))),
            Err(_) => prop_assert!(!fits),
        }
    }
}

#[test]
fn fields_stand_where_the_layout_says() {
    assert_eq!(WORD_BITS, 59);
    let word = quote().pack().unwrap();
    let fields = [(48, 11), (27, 21), (13, 14), (9, 4), (7, 2), (5, 2), (0, 5)];
    let read = fields.map(|(shift, bits): (u32, u32)| word >> shift & ((1 << bits) - 1));
    assert_eq!(read, [3, 26_500, 12, 4, 1, 0, 21]);
    assert_eq!(fields.iter().map(|(_, bits)| bits).sum::<u32>(), WORD_BITS);
}

/// The quote with one thing changed.
fn with(change: impl FnOnce(&mut Quote)) -> Quote {
    let mut quote = quote();
    change(&mut quote);
    quote
}

#[test]
fn the_largest_of_each_field_fits() {
    let largest = Quote {
        instrument: 2047,
        ticks: 2_097_151,
        size: 16_383,
        level: 10,
        sequence: 31,
        ..quote()
    };
    assert_eq!(Quote::unpack(largest.pack().unwrap()), Ok(largest));
    let smallest = Quote {
        instrument: 0,
        ticks: 0,
        size: 1,
        level: 1,
        sequence: 0,
        ..quote()
    };
    assert_eq!(Quote::unpack(smallest.pack().unwrap()), Ok(smallest));
}

#[test]
fn what_is_beyond_a_field_is_an_error() {
    let ticks = with(|quote| quote.ticks = 2_097_152);
    for (bad, error) in [
        (with(|q| q.instrument = 2048), WordError::Instrument(2048)),
        (ticks, WordError::Ticks(2_097_152)),
        (with(|q| q.size = 16_384), WordError::Size(16_384)),
        (with(|q| q.size = 0), WordError::Size(0)),
        (with(|q| q.action = Action::Remove), WordError::Size(12)),
        (with(|q| q.level = 11), WordError::Level(11)),
        (with(|q| q.level = 0), WordError::Level(0)),
        (with(|q| q.sequence = 32), WordError::Sequence(32)),
    ] {
        assert_eq!(bad.pack(), Err(error), "{bad:?}");
    }
}

#[test]
fn bits_that_no_quote_has_are_errors() {
    let word = quote().pack().unwrap();
    let put =
        |shift: u32, bits: u32, value: u64| word & !(((1 << bits) - 1) << shift) | value << shift;
    for (bad, error) in [
        (put(7, 2, 2), WordError::Side(2)),
        (put(7, 2, 3), WordError::Side(3)),
        (put(5, 2, 3), WordError::Action(3)),
        (put(9, 4, 0), WordError::Level(0)),
        (put(9, 4, 11), WordError::Level(11)),
        (put(9, 4, 15), WordError::Level(15)),
        (put(13, 14, 0), WordError::Size(0)),
        // A removal that leaves something.
        (put(5, 2, 2), WordError::Size(12)),
    ] {
        assert_eq!(Quote::unpack(bad), Err(error), "{bad:#x}");
    }
    for bit in WORD_BITS..64 {
        let bad = word | 1 << bit;
        assert_eq!(Quote::unpack(bad), Err(WordError::Unused(bad)));
    }
}
