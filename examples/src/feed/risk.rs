//! The check of trades against the risk limits.
//!
//! Owner: each shard has a [`Risk`] of its own, which acts on every version of the limits in order.

use std::collections::BTreeMap;

use super::{Limit, Limits, OrdersReport, Symbol, Trade, Volume, shard_of};

/// The order side of one shard: the limits that it acts on, and what it has found.
///
/// A trade is checked by one shard, which is not the one of its book where there are two.
#[derive(Debug)]
pub struct Risk {
    shards: usize,
    /// The limits of the symbols that are checked here.
    rows: BTreeMap<Symbol, Row>,
    report: OrdersReport,
}

/// A symbol that is checked.
#[derive(Debug)]
struct Row {
    limit: Limit,
    position: Volume,
}

impl Risk {
    /// The order side of `shard`, among `shards` of them, before its first version.
    pub fn new(shard: usize, shards: usize) -> Self {
        let report = OrdersReport {
            shard,
            ..OrdersReport::default()
        };
        Self {
            shards,
            rows: BTreeMap::new(),
            report,
        }
    }

    /// Acts on the next version of the limits. Costs a look at each limit; positions stay.
    ///
    /// # Panics
    ///
    /// When a version is missing before it, or it is an older one.
    pub fn act_on(&mut self, limits: &Limits) {
        if self.report.versions > 0 {
            assert_eq!(
                limits.number(),
                self.report.version + 1,
                "every version comes, and in order"
            );
        }
        self.report.versions += 1;
        self.report.version = limits.number();
        for (symbol, limit) in limits.iter() {
            if !self.checks(symbol) {
                continue;
            }
            let row = self.rows.entry(symbol).or_insert(Row {
                limit,
                position: Volume::default(),
            });
            row.limit = limit;
        }
    }

    /// Whether the trades of a symbol are checked here: half the shards away from its book.
    fn checks(&self, symbol: Symbol) -> bool {
        let checker = (shard_of(symbol, self.shards) + self.shards / 2) % self.shards;
        checker == self.report.shard
    }

    /// Checks a trade if its symbol has a limit and is checked here. Costs one look-up.
    pub fn check(&mut self, trade: &Trade) {
        let Some(Row { limit, position }) = self.rows.get_mut(&trade.symbol) else {
            return;
        };
        position.add(trade.quantity);
        let mut position_max = Volume::default();
        position_max.add(limit.position_max);
        self.report.checked += 1;
        self.report.orders_over += u64::from(trade.quantity > limit.order_max);
        self.report.positions_over += u64::from(*position > position_max);
    }

    /// What it has found so far.
    pub fn report(&self) -> OrdersReport {
        self.report
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::{Decimal, NamedLimit};

    fn named(text: &str) -> NamedLimit {
        text.parse().unwrap()
    }

    fn trade(symbol: &str, quantity: &str) -> Trade {
        Trade {
            symbol: symbol.parse().unwrap(),
            id: 1,
            price: Decimal::ZERO,
            quantity: Decimal::parse(quantity).unwrap(),
        }
    }

    #[test]
    fn trades_are_checked_against_the_version_acted_on() {
        let mut risk = Risk::new(0, 1);
        let first = Limits::new([named("ES=2:5")]);
        risk.check(&trade("ES", "9"));
        risk.act_on(&first);
        for (symbol, quantity) in [("ES", "2"), ("ES", "2.00000001"), ("NQ", "9"), ("ES", "1")] {
            risk.check(&trade(symbol, quantity));
        }
        let found = risk.report();
        assert_eq!(
            (found.checked, found.orders_over, found.positions_over),
            (3, 1, 1)
        );
        let wider = named("ES=9:100");
        risk.act_on(&first.with(wider.symbol, wider.limit));
        risk.check(&trade("ES", "9"));
        let found = risk.report();
        assert_eq!((found.versions, found.version), (2, 1));
        assert_eq!(
            (found.checked, found.orders_over, found.positions_over),
            (4, 1, 1)
        );
    }

    #[test]
    #[should_panic(expected = "every version comes")]
    fn a_version_that_is_missing_is_found_out() {
        let mut risk = Risk::new(0, 1);
        let limit = named("ES=1:1");
        let first = Limits::default();
        let second = first.with(limit.symbol, limit.limit);
        let third = second.with(limit.symbol, limit.limit);
        risk.act_on(&first);
        risk.act_on(&third);
    }

    #[test]
    fn a_symbol_is_checked_by_one_shard_away_from_its_book() {
        for shards in 1..=5 {
            let mut all: Vec<_> = (0..shards).map(|shard| Risk::new(shard, shards)).collect();
            for name in ["ES", "NQ", "CL", "GC", "ZN", "BTCUSDT"] {
                let limit = named(&format!("{name}=1:1"));
                for risk in &mut all {
                    let first = Limits::new([limit]);
                    *risk = Risk::new(risk.report().shard, shards);
                    risk.act_on(&first);
                    risk.check(&trade(name, "9"));
                }
                let checked = all.iter().filter(|risk| risk.report().checked == 1);
                let checkers: Vec<_> = checked.map(|risk| risk.report().shard).collect();
                let book = shard_of(limit.symbol, shards);
                assert_eq!(checkers.len(), 1, "{name} {shards}");
                assert!(shards == 1 || checkers[0] != book, "{name} {shards}");
            }
        }
    }
}
