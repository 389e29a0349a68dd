//! The order side of one shard: it acts on every version of the risk limits, and checks trades.
//!
//! Limits come over a subscription that waits for the slowest shard, so none misses a version.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use corelane_primitives::{DetachedFeed, Overflow, Subscription};

use crate::feed::{Limits, Options, OrdersReport, Risk, Trade};

/// Versions of the limits that a shard may be behind; then whoever sets one waits.
const VERSIONS_MAX: usize = 16;

/// The limits, and a feed for each of `shards` shards.
pub(super) fn limits(
    options: &Options,
    shards: usize,
) -> (Subscription<Arc<Limits>>, Vec<DetachedFeed<Arc<Limits>>>) {
    let first = Arc::new(Limits::new(options.limit.iter().copied()));
    let limits = Subscription::new(first, VERSIONS_MAX, Overflow::Backpressure);
    let feeds = (0..shards).map(|_| limits.changes().detach()).collect();
    (limits, feeds)
}

/// The order side of one shard.
#[derive(Debug)]
pub(super) struct Orders(RefCell<Risk>);

impl Orders {
    /// The order side of `shard`, which acts on the first version of `limits` from here on.
    pub(super) fn new(shard: usize, shards: usize, limits: &mut DetachedFeed<Arc<Limits>>) -> Self {
        let mut risk = Risk::new(shard, shards);
        let first = limits.try_next();
        risk.act_on(&first.expect("a feed of a subscription begins with its value"));
        Self(RefCell::new(risk))
    }

    /// Acts on every version to the last.
    pub(super) async fn follow(self: Rc<Self>, mut limits: DetachedFeed<Arc<Limits>>) {
        while let Some(Ok(next)) = limits.next().await {
            self.0.borrow_mut().act_on(&next);
        }
    }

    /// Checks those of `trades` that are this shard's to check.
    pub(super) fn check(&self, trades: &[Trade]) {
        let mut risk = self.0.borrow_mut();
        trades.iter().for_each(|trade| risk.check(trade));
    }

    /// What was found so far.
    pub(super) fn report(&self) -> OrdersReport {
        self.0.borrow().report()
    }
}
