//! The rings of the embedded feed, from its decoders to the shards that own the books.
//!
//! An owner has one ring of words, which refuses, and one of fills, which wait. All decoders of its
//! instruments push into both. The last of them to end closes them.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use corelane::time::ShardTimers;
use corelane_primitives::{Consumer64, Parker, Ring, Ring64, RingConsumer, Timers};

use super::routes::Timed;
use crate::feed::{Generator, InstrumentId, RingReport, shard_of};
use crate::words::{BreakerLimits, FILL_TIMEOUT, Fills, Followers, Quoter, feed_side};

/// Words that wait for one owner at most.
const WORD_SLOTS: usize = 16_384;

/// Fills that wait for one owner at most.
const FILL_SLOTS: usize = 4096;

/// A feed that goes as fast as it can makes nothing while so many words wait. It could make more
/// than any owner takes, and would only be refused. A feed with a pace of its own never looks.
const WORDS_AHEAD_MAX: usize = 1024;

/// The decoder's ends for one instrument.
#[derive(Debug)]
pub(super) struct Feed {
    pub(super) quoter: Quoter,
    pub(super) fills: Fills<Timed>,
    room: Arc<Parker>,
    // Behind the others, so that all is said before a ring closes.
    _open: Arc<Open>,
}

impl Feed {
    /// Waits until the owner has taken enough for another batch.
    pub(super) async fn room(&self) {
        let ring = self.quoter.ring();
        let has_room = || ring.occupancy() <= WORDS_AHEAD_MAX || ring.is_closed();
        poll_fn(|cx| {
            if has_room() {
                return Poll::Ready(());
            }
            self.room.park(cx.waker());
            if has_room() {
                self.room.unpark();
                return Poll::Ready(());
            }
            Poll::Pending
        })
        .await;
    }
}

/// Both rings of an owner, while anybody pushes.
#[derive(Debug)]
struct Open {
    words: Ring64,
    fills: Ring<Timed>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.words.close();
        self.fills.close();
    }
}

/// The owner's ends.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) words: Consumer64,
    pub(super) fills: RingConsumer<Timed>,
    pub(super) followers: Followers,
    /// Decoders that may wait for the owner.
    pub(super) waiting: Vec<Arc<Parker>>,
    pub(super) gauges: Gauges,
}

/// What the rings of an owner tell about themselves.
#[derive(Debug)]
pub(super) struct Gauges {
    shard: usize,
    words: Ring64,
    fills: Ring<Timed>,
}

impl Gauges {
    pub(super) fn read(&self) -> [RingReport; 2] {
        let (words, fills) = (&self.words, &self.fills);
        [
            RingReport {
                name: "words",
                shard: self.shard,
                capacity: words.capacity(),
                occupancy: words.occupancy(),
                peak: words.peak(),
                refused: words.refused(),
                drain_ns: words.drain_ns(),
                age_bound_ns: words.age_bound().map(|bound| bound.as_nanos() as u64),
            },
            RingReport {
                name: "fills",
                shard: self.shard,
                capacity: fills.capacity(),
                occupancy: fills.occupancy(),
                peak: fills.peak(),
                refused: fills.refused(),
                drain_ns: fills.drain_ns(),
                age_bound_ns: fills.age_bound().map(|bound| bound.as_nanos() as u64),
            },
        ]
    }
}

/// The desks of `shards`, and the feed of each instrument. Shards that own none have no desk.
pub(super) fn desks(seed: u64, shards: usize) -> (Vec<Option<Desk>>, Vec<(InstrumentId, Feed)>) {
    let timers: Arc<dyn Timers> = Arc::new(ShardTimers);
    let mut feeds = Vec::new();
    let desks = (0..shards)
        .map(|shard| {
            let owns = |id: &InstrumentId| shard_of(id.instrument().symbol(), shards) == shard;
            let ids: Vec<_> = InstrumentId::all().filter(owns).collect();
            (!ids.is_empty()).then(|| desk(seed, shard, ids, &timers, &mut feeds))
        })
        .collect();
    (desks, feeds)
}

fn desk(
    seed: u64,
    shard: usize,
    ids: Vec<InstrumentId>,
    timers: &Arc<dyn Timers>,
    feeds: &mut Vec<(InstrumentId, Feed)>,
) -> Desk {
    let (ring, words) = Ring64::new(WORD_SLOTS);
    let (fill_ring, fills) = Ring::builder(FILL_SLOTS)
        .timers(Arc::clone(timers))
        .build()
        .expect("the capacity is a power of two");
    let open = Arc::new(Open {
        words: ring.clone(),
        fills: fill_ring.clone(),
    });
    let (mut followers, mut waiting) = (Vec::new(), Vec::new());
    for id in ids {
        let (quoter, follower) = feed_side(Generator::of(seed, id), id, ring.clone())
            .expect("whatever the embedded feed makes fits words, as a test shows");
        let room = Arc::new(Parker::new());
        followers.push(follower);
        waiting.push(Arc::clone(&room));
        let feed = Feed {
            quoter,
            fills: Fills::new(
                fill_ring.clone(),
                Arc::clone(timers),
                FILL_TIMEOUT,
                BreakerLimits::default(),
            ),
            room,
            _open: Arc::clone(&open),
        };
        feeds.push((id, feed));
    }
    Desk {
        words,
        fills,
        followers: followers.into_iter().collect(),
        waiting,
        gauges: Gauges {
            shard,
            words: ring,
            fills: fill_ring,
        },
    }
}
