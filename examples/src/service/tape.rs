//! Trades: from the shards that own the books to a reader on every shard, over one topic.
//!
//! All feeds are made before the first trade, so each reader's count of what it got and what it
//! lost is what was published. When a reader is behind, the command line's policy decides; by
//! default the book waits. A reader itself never waits for anybody, so that cannot go round.

use std::rc::Rc;

use corelane::task::yield_now;
use corelane_primitives::{DetachedFeed, Topic};

use super::hub::Hub;
use super::orders::Orders;
use crate::feed::{Options, ReaderReport, Trade};

/// Trades that a reader takes before other tasks of its shard have their turn.
const BATCH_MAX: usize = 256;

/// The topic, and a feed for each of `shards` shards. The last handle that goes ends it.
pub(super) fn tape(options: &Options, shards: usize) -> (Topic<Trade>, Vec<DetachedFeed<Trade>>) {
    let topic = Topic::new(options.trades_capacity, options.trades_overflow.into());
    let feeds = (0..shards).map(|_| topic.subscribe().detach()).collect();
    (topic, feeds)
}

/// Reads the trades of all shards to their end, for the subscribers and the order side of
/// this one.
pub(super) async fn read(mut feed: DetachedFeed<Trade>, hub: Rc<Hub>, orders: Rc<Orders>) {
    let (mut trades, mut taken) = (Vec::new(), 0);
    while let Ok(count @ 1..) = feed.next_batch(&mut trades, BATCH_MAX).await {
        orders.check(&trades);
        hub.tell_trades(&trades, self::count(&feed));
        trades.clear();
        taken += count;
        if taken >= BATCH_MAX {
            taken = 0;
            yield_now().await;
        }
    }
    hub.tell_trades(&[], count(&feed));
}

fn count(feed: &DetachedFeed<Trade>) -> ReaderReport {
    let stats = feed.stats();
    ReaderReport {
        delivered: stats.delivered,
        dropped: stats.dropped,
        ..ReaderReport::default()
    }
}
