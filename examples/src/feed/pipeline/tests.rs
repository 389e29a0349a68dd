use super::*;
use crate::feed::{Decimal, Generator, INSTRUMENTS, Trade};

#[test]
fn the_instruments_go_round_robin() {
    let shards: Vec<_> = INSTRUMENTS
        .iter()
        .map(|row| shard_of(row.symbol(), 2))
        .collect();
    assert_eq!(shards, [0, 1, 0, 1, 0]);
}

#[test]
fn the_table_names_the_same_owners() {
    let table = Instruments::new(2);
    let others = (0..100).map(|number| format!("SYM{number}").parse().unwrap());
    for symbol in INSTRUMENTS.iter().map(|row| row.symbol()).chain(others) {
        assert_eq!(table.owner(symbol), shard_of(symbol, 2));
    }
}

#[test]
fn other_symbols_spread_evenly() {
    for shards in [1, 2, 3, 4, 7, 64] {
        let mut books = vec![0_usize; shards];
        for number in 0..100 * shards {
            books[shard_of(format!("SYM{number}").parse().unwrap(), shards)] += 1;
        }
        assert!(
            books.iter().all(|count| (50..200).contains(count)),
            "{shards}: {books:?}"
        );
    }
}

#[test]
fn a_symbol_too_many_is_handed_back() {
    let mut books = Books::new(0);
    let trade = |number: usize| {
        let symbol = format!("S{number}").parse().unwrap();
        let one = Decimal::from_units(1);
        Update::Trade(Trade {
            symbol,
            id: 1,
            price: one,
            quantity: one,
        })
    };
    for number in 0..BOOKS_MAX {
        books.apply(trade(number)).unwrap();
    }
    let BooksFull(refused) = books.apply(trade(BOOKS_MAX)).unwrap_err();
    assert_eq!(refused, trade(BOOKS_MAX));
    let (_, book) = books.apply(trade(0)).unwrap();
    assert_eq!(book.counts().trades, 2, "a known symbol still has its book");
}

#[test]
fn a_report_adds_what_its_shards_counted() {
    let mut summaries = Vec::new();
    for shard in 0..2_u64 {
        // One kept update only, so that those before a snapshot lapse.
        let mut books = Books::new(1);
        let mut summary = ShardSummary {
            updates: 1_000,
            lane_peak: 10 + shard,
            malformed: 1,
            refused: 2,
            served: 3,
            cut: shard,
            fills: FillLosses {
                timed_out: 1,
                broken: 2,
                trips: 1,
            },
            holes: HoleReport {
                discarded: 5,
                snapshots: 1 + shard,
            },
            rings: vec![RingReport {
                shard: shard as usize,
                ..RingReport::default()
            }],
            ..ShardSummary::default()
        };
        for update in Generator::new(4).skip(5).take(500) {
            if shard_of(update.symbol(), 2) as u64 == shard {
                books.apply(update).unwrap();
                summary.ages.record(100 * (shard + 1));
            }
        }
        let lapsed: u64 = books.iter().map(|book| book.counts().lapsed).sum();
        assert!(lapsed > 0);
        summary.close_books(&books);
        assert_eq!(summary.refused, 2 + lapsed);
        summaries.push(summary);
    }
    let refused: u64 = summaries.iter().map(|summary| summary.refused).sum();
    let report = Report::of_shards(2.0, summaries);
    assert_eq!(
        (report.shards, report.updates, report.updates_per_s),
        (2, 2_000, 1_000.0)
    );
    assert_eq!(
        (report.lane_peak, report.malformed, report.refused),
        (11, 2, refused)
    );
    assert_eq!((report.subscribers.served, report.subscribers.cut), (6, 1));
    assert_eq!((report.age_ns.p50, report.age_ns.max), (100, 200));
    let symbols: Vec<_> = report
        .books
        .iter()
        .map(|book| book.symbol.to_string())
        .collect();
    assert_eq!(symbols, ["CL", "ES", "GC", "NQ", "ZN"]);
    assert_eq!(Report::of_shards(0.0, Vec::new()).updates_per_s, 0.0);
}

#[test]
fn a_report_has_what_its_shards_gave_each_other() {
    let summary = |shard| ShardSummary {
        published: 9,
        reader: ReaderReport {
            shard,
            delivered: 17,
            dropped: 1,
        },
        tops: TopsReport {
            signals: 1 + shard as u64,
            sets: 4,
            ..TopsReport::default()
        },
        ..ShardSummary::default()
    };
    let report = Report::of_shards(1.0, vec![summary(0), summary(1)]);
    assert_eq!((report.tops.signals, report.tops.sets), (3, 8));
    let readers = report.trades.readers.iter();
    let shards: Vec<_> = readers.map(|reader| reader.shard).collect();
    assert_eq!((report.trades.published, shards), (18, vec![0, 1]));
}

#[test]
fn ages_are_exact_to_a_thousandth_and_bounded() {
    let mut ages = Ages::default();
    assert_eq!(
        (ages.quantile_ns(0.5), ages.max_ns(), ages.is_empty()),
        (0, 0, true)
    );
    (1..=999).for_each(|age_us| ages.record(age_us * 1_000));
    ages.record_many(1_000_000, 1);
    let near = |found: u64, exact: u64| found.abs_diff(exact) <= exact / 1_000 + 1;
    assert!(
        near(ages.quantile_ns(0.5), 500_000),
        "{}",
        ages.quantile_ns(0.5)
    );
    assert!(
        near(ages.quantile_ns(0.999), 999_000),
        "{}",
        ages.quantile_ns(0.999)
    );
    ages.record(u64::MAX);
    assert!(near(ages.max_ns(), AGE_NS_MAX), "{}", ages.max_ns());
    assert_eq!(ages.len(), 1_001);
    ages.clear();
    assert!(ages.is_empty());
}
