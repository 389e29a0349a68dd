//! What holds for any bytes, any chunks, and any loss.

use std::collections::BTreeMap;

use corelane_examples::feed::{
    Book, Decimal, Decoder, Depth, Generator, Level, Snapshot, Update, write_line,
};
use proptest::prelude::*;

use crate::support::{decode, decode_in_chunks, symbol};

/// A line that is nearly right: a real one with bytes replaced, or none.
fn noisy_text() -> impl Strategy<Value = Vec<u8>> {
    let noise = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20);
    (any::<u64>(), 0..40_usize, noise).prop_map(|(seed, updates, noise)| {
        let mut text = Vec::new();
        for update in Generator::new(seed).take(updates) {
            write_line(&mut text, seed, &update).unwrap();
        }
        for (place, byte) in noise {
            if !text.is_empty() {
                let place = place.index(text.len());
                text[place] = byte;
            }
        }
        text
    })
}

fn told(text: &[u8], line_bytes_max: usize, sizes: &[usize]) -> Vec<String> {
    let found = decode_in_chunks(&mut Decoder::new(line_bytes_max), text, sizes);
    found
        .into_iter()
        .map(|outcome| format!("{outcome:?}"))
        .collect()
}

proptest! {
    #[test]
    fn no_bytes_make_the_decoder_panic(text in prop::collection::vec(any::<u8>(), 0..2_000)) {
        let ends = text.iter().filter(|byte| **byte == b'\n').count();
        // Each line gives one outcome, and the last one needs no end.
        prop_assert!(decode(&text).len() <= ends + 1);
    }

    #[test]
    fn how_the_input_is_cut_changes_nothing(
        text in noisy_text(),
        sizes in prop::collection::vec(1..300_usize, 1..20),
        line_bytes_max in prop_oneof![Just(1 << 20), 50..400_usize],
    ) {
        let whole = told(&text, line_bytes_max, &[]);
        prop_assert_eq!(&whole, &told(&text, line_bytes_max, &sizes));
        prop_assert_eq!(&whole, &told(&text, line_bytes_max, &[1]));
    }

    #[test]
    fn decimals_survive_their_text(units in any::<i64>()) {
        prop_assume!(units != i64::MIN);
        let decimal = Decimal::from_units(units);
        prop_assert_eq!(Decimal::parse(&decimal.to_string()), Ok(decimal));
    }

    #[test]
    fn any_text_parses_as_a_reference_says(text in "-?[0-9]{0,13}(\\.[0-9]{0,10})?") {
        prop_assert_eq!(Decimal::parse(&text).ok().map(Decimal::units), reference_units(&text));
    }

    #[test]
    fn a_current_book_is_the_venues_book(script in script(), kept_max in 0..30_usize) {
        run_script(&script, kept_max)?;
    }
}

/// The units of a text, by padding digits and one 128-bit parse.
fn reference_units(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let (whole, behind) = digits.split_once('.').unwrap_or((digits, "0"));
    if whole.is_empty() || behind.is_empty() || behind.len() > 8 {
        return None;
    }
    let padded: i128 = format!("{whole}{behind:0<8}").parse().ok()?;
    // The range is symmetric: the one value more that a negative i64 has is not used.
    let units = i64::try_from(padded).ok()?;
    Some(sign * units)
}

/// What happens to the next update of the venue, or when its book is asked for.
#[derive(Clone, Debug)]
enum Step {
    Deliver,
    Lose,
    Double,
    /// Take the venue's book of so many ids ago.
    Snapshot(u64),
}

#[derive(Clone, Debug)]
struct Script {
    /// Each change of the venue: side, price, quantity, and whether the update ends with it.
    changes: Vec<(bool, i64, i64, bool)>,
    steps: Vec<Step>,
}

fn script() -> impl Strategy<Value = Script> {
    let change = (any::<bool>(), 1..12_i64, 0..4_i64, any::<bool>());
    let step = prop_oneof![
        12 => Just(Step::Deliver),
        1 => Just(Step::Lose),
        1 => Just(Step::Double),
        2 => (0..8_u64).prop_map(Step::Snapshot),
    ];
    let changes = prop::collection::vec(change, 1..200);
    (changes, prop::collection::vec(step, 1..200))
        .prop_map(|(changes, steps)| Script { changes, steps })
}

type Sides = [BTreeMap<i64, i64>; 2];

/// The venue: its book after each id, and its updates.
struct Venue {
    books: Vec<Sides>,
    updates: Vec<Depth>,
}

impl Venue {
    fn new(changes: &[(bool, i64, i64, bool)]) -> Self {
        let mut venue = Self {
            books: vec![Sides::default()],
            updates: Vec::new(),
        };
        let mut first_id = 1;
        let mut touched: [Vec<i64>; 2] = Default::default();
        for (number, (is_bid, price, quantity, ends)) in changes.iter().enumerate() {
            let side = usize::from(*is_bid);
            let mut book = venue.books[number].clone();
            book[side].insert(*price, *quantity);
            book[side].retain(|_, quantity| *quantity != 0);
            touched[side].push(*price);
            let last_id = number as u64 + 1;
            if *ends {
                let now = |side: usize, prices: Vec<i64>| {
                    let quantity = |price| book[side].get(&price).copied().unwrap_or_default();
                    prices
                        .into_iter()
                        .map(|price| level(price, quantity(price)))
                        .collect()
                };
                let [asks, bids] = std::mem::take(&mut touched);
                let (bids, asks) = (now(1, bids), now(0, asks));
                venue.updates.push(Depth {
                    symbol: symbol("ES"),
                    first_id,
                    last_id,
                    bids,
                    asks,
                });
                first_id = last_id + 1;
            }
            venue.books.push(book);
        }
        venue
    }

    fn snapshot(&self, last_update_id: u64) -> Update {
        let [asks, bids] = &self.books[last_update_id as usize];
        let all = |side: &BTreeMap<i64, i64>| side.iter().map(|(p, q)| level(*p, *q)).collect();
        let (bids, asks) = (all(bids), all(asks));
        Update::Snapshot(Snapshot {
            symbol: symbol("ES"),
            last_update_id,
            bids,
            asks,
        })
    }
}

fn level(price: i64, quantity: i64) -> Level {
    Level {
        price: Decimal::from_units(price),
        quantity: Decimal::from_units(quantity),
    }
}

fn run_script(script: &Script, kept_max: usize) -> Result<(), TestCaseError> {
    let venue = Venue::new(&script.changes);
    let mut book = Book::new(symbol("ES"), kept_max);
    let mut updates = venue.updates.iter();
    let (mut delivered, mut snapshots, mut lost, mut now) = (0_u64, 0_u64, false, 0_u64);
    for step in &script.steps {
        let copies = match step {
            Step::Snapshot(ago) => {
                book.apply(venue.snapshot(now.saturating_sub(*ago)));
                snapshots += 1;
                agrees(&book, &venue)?;
                continue;
            }
            Step::Lose => 0,
            Step::Deliver => 1,
            Step::Double => 2,
        };
        let Some(update) = updates.next() else { break };
        lost |= copies == 0;
        now = update.last_id;
        for _ in 0..copies {
            delivered += 1;
            book.apply(Update::Depth(update.clone()));
            agrees(&book, &venue)?;
        }
    }
    let counts = *book.counts();
    let told = counts.applied + counts.stale + counts.lapsed + book.kept_updates() as u64;
    prop_assert!(
        (delivered..=delivered + snapshots).contains(&told),
        "each update is told once"
    );
    prop_assert!(book.kept_updates() <= kept_max.max(1));
    // A snapshot may be older than what could be kept; else only a loss makes a gap.
    prop_assert!(lost || counts.lapsed > 0 || snapshots == 0 || counts.gaps == 0 || kept_max == 0);
    book.apply(venue.snapshot(now));
    prop_assert!(book.is_current(), "the newest snapshot heals");
    agrees(&book, &venue)?;
    for update in updates {
        book.apply(Update::Depth(update.clone()));
    }
    prop_assert!(book.is_current());
    agrees(&book, &venue)
}

fn agrees(book: &Book, venue: &Venue) -> Result<(), TestCaseError> {
    if !book.is_current() {
        return Ok(());
    }
    let units = |level: Level| (level.price.units(), level.quantity.units());
    let [asks, bids] = &venue.books[book.last_id() as usize];
    let bids: Vec<_> = bids.iter().rev().map(|(p, q)| (*p, *q)).collect();
    let asks: Vec<_> = asks.iter().map(|(p, q)| (*p, *q)).collect();
    prop_assert_eq!(book.bids().map(units).collect::<Vec<_>>(), bids);
    prop_assert_eq!(book.asks().map(units).collect::<Vec<_>>(), asks);
    Ok(())
}
