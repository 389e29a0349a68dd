//! From updates to words: what fits, what does not, and which level a price has.

use corelane_examples::feed::{
    Decimal, Depth, Generator, InstrumentId, Level, Levels, Snapshot, Update,
};
use corelane_examples::words::{Action, Packer, Quote, Side, WordError};

fn gold() -> InstrumentId {
    InstrumentId::named("GC".parse().unwrap()).unwrap()
}

fn level(price: &str, contracts: &str) -> Level {
    Level {
        price: Decimal::parse(price).unwrap(),
        quantity: Decimal::parse(contracts).unwrap(),
    }
}

fn depth(bids: &[Level], asks: &[Level]) -> Depth {
    Depth {
        symbol: gold().instrument().symbol(),
        first_id: 1,
        last_id: 1,
        bids: bids.iter().copied().collect(),
        asks: asks.iter().copied().collect(),
    }
}

fn snapshot(bids: Levels, asks: Levels) -> Snapshot {
    Snapshot {
        symbol: gold().instrument().symbol(),
        last_update_id: 0,
        bids,
        asks,
    }
}

/// Gold with the bids 2650.0 and 2649.8, and the ask 2650.1, at number 30.
fn packer() -> Packer {
    let mut packer = Packer::new(gold(), 30);
    let bids = [level("2649.8", "7"), level("2650", "5")];
    let asks = [level("2650.1", "9")];
    let told = packer
        .restart(snapshot(bids.into(), asks.into_iter().collect()))
        .unwrap();
    assert_eq!(told.last_update_id, 30);
    packer
}

fn pack(packer: &mut Packer, depth: &Depth) -> Result<Vec<Quote>, WordError> {
    let mut words = Vec::new();
    packer.pack(depth, &mut words)?;
    Ok(words
        .into_iter()
        .map(|word| Quote::unpack(word).unwrap())
        .collect())
}

#[test]
fn a_word_says_level_action_and_number() {
    let bids = [
        level("2649.9", "3"),
        level("2650", "0"),
        level("2649.8", "1"),
    ];
    let quotes = pack(&mut packer(), &depth(&bids, &[level("2650", "2")])).unwrap();
    let told: Vec<_> = quotes
        .iter()
        .map(|q| (q.side, q.ticks, q.size, q.level, q.action, q.sequence))
        .collect();
    use Action::{Change, New, Remove};
    assert_eq!(
        told,
        [
            // What goes is first, so that the ask at its price crosses nothing.
            (Side::Bid, 26_500, 0, 1, Remove, 31),
            (Side::Bid, 26_499, 3, 1, New, 0),
            (Side::Bid, 26_498, 1, 2, Change, 1),
            (Side::Ask, 26_500, 2, 1, New, 2),
        ]
    );
}

#[test]
fn what_fits_no_word_is_an_error_and_takes_a_number() {
    let deep: Vec<_> = (1..=9)
        .map(|number| level(&format!("2640.{number}"), "1"))
        .collect();
    for (bad, error) in [
        (level("2650.05", "1"), WordError::OffTick(265_005_000_000)),
        (
            level("2650.00000001", "0"),
            WordError::OffTick(265_000_000_001),
        ),
        (level("-0.1", "1"), WordError::Ticks(-1)),
        (level("209715.2", "1"), WordError::Ticks(2_097_152)),
        (level("2650", "16384"), WordError::Size(16_384)),
        (level("2650", "-1"), WordError::Size(-1)),
        (level("2650", "0.5"), WordError::Fraction(50_000_000)),
        (level("2649.9", "0"), WordError::Missing(26_499)),
    ] {
        let (mut packer, mut words) = (packer(), vec![7]);
        let ok = level("2650", "1");
        let depth = depth(&[ok, bad], &[]);
        assert_eq!(packer.pack(&depth, &mut words), Err(error));
        assert_eq!((words, packer.sequence()), (vec![7], 31));
    }
    let mut packer = packer();
    assert_eq!(
        pack(&mut packer, &depth(&deep, &[])),
        Err(WordError::Level(11))
    );
    // The bounds themselves fit.
    let largest = level("209715.1", "16383");
    assert_eq!(
        pack(&mut self::packer(), &depth(&[], &[largest])).unwrap()[0].ticks,
        2_097_151
    );
}

#[test]
fn a_snapshot_off_the_tick_is_an_error_too() {
    let bad = snapshot([level("2650.05", "1")].into_iter().collect(), Levels::new());
    assert_eq!(
        Packer::new(gold(), 0).restart(bad),
        Err(WordError::OffTick(265_005_000_000))
    );
}

#[test]
fn every_update_of_the_embedded_feed_fits() {
    for id in InstrumentId::all() {
        let mut feed = Generator::of(3, id);
        let Some(Update::Snapshot(opening)) = feed.next() else {
            panic!("a feed begins with a snapshot");
        };
        let mut packer = Packer::new(id, opening.last_update_id);
        packer.restart(opening).unwrap();
        let mut words = Vec::new();
        for update in feed.take(20_000) {
            if let Update::Depth(depth) = update {
                let levels = depth.bids.len() + depth.asks.len();
                words.clear();
                packer.pack(&depth, &mut words).unwrap();
                assert_eq!(words.len(), levels);
            }
        }
    }
}
