//! From a shard's books to the shards that have subscribers.
//!
//! Lines are made once, where the book is, and only while somebody listens. What a batch changed
//! goes as one block to each shard with subscribers. A lane that is full is no reason to wait: its
//! lines are counted as refused, and the subscribers there are told that they missed some.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use corelane_primitives::{Consumer, Full, Producer, lane};

use super::door::Door;
use crate::feed::{Book, Update, write_top, write_trade};

/// Blocks that wait in one lane at most; a power of two.
const LANE_SLOTS: usize = 256;

/// How many subscribers each shard has. Relaxed: a line more or less at the start or end of a
/// subscription is nobody's loss.
#[derive(Debug)]
pub(super) struct Audience(Box<[AtomicUsize]>);

impl Audience {
    pub(super) fn new(shards: usize) -> Self {
        Self((0..shards).map(|_| AtomicUsize::new(0)).collect())
    }

    /// Says how many subscribers a shard has now.
    pub(super) fn set(&self, shard: usize, subscribers: usize) {
        self.0[shard].store(subscribers, Ordering::Relaxed);
    }

    fn has(&self, shard: usize) -> bool {
        self.0[shard].load(Ordering::Relaxed) > 0
    }
}

/// What goes to a shard with subscribers.
#[derive(Debug)]
pub(super) enum News {
    /// Whole lines.
    Lines(Arc<[u8]>),
    /// Lines are missing here.
    Missed,
}

/// The publishing end of one shard.
#[derive(Debug)]
pub(super) struct Publisher {
    audience: Arc<Audience>,
    targets: Vec<Target>,
    block: Vec<u8>,
    lines: u64,
    refused: u64,
}

#[derive(Debug)]
struct Target {
    door: Door<Consumer<News>>,
    lane: Option<Producer<News>>,
    /// A block was refused, and the shard has not been told yet.
    missed: bool,
}

impl Publisher {
    /// Publishes through these doors, one a shard.
    pub(super) fn new(audience: Arc<Audience>, doors: Vec<Door<Consumer<News>>>) -> Self {
        let targets = doors
            .into_iter()
            .map(|door| Target {
                door,
                lane: None,
                missed: false,
            })
            .collect();
        Self {
            audience,
            targets,
            block: Vec::new(),
            lines: 0,
            refused: 0,
        }
    }

    /// Whether anybody listens, anywhere.
    pub(super) fn has_audience(&self) -> bool {
        (0..self.targets.len()).any(|shard| self.audience.has(shard))
    }

    /// Lines that a full lane refused.
    pub(super) fn refused(&self) -> u64 {
        self.refused
    }

    /// Adds the line of a trade to the block; other updates show in the book's top.
    pub(super) fn note(&mut self, update: &Update) {
        if let Update::Trade(trade) = update {
            write_trade(&mut self.block, trade).expect("writing to memory does not fail");
            self.lines += 1;
        }
    }

    /// Adds the line of a book's best prices to the block.
    pub(super) fn top(&mut self, book: &Book) {
        write_top(&mut self.block, book.symbol(), book.last_id(), &book.top())
            .expect("writing to memory does not fail");
        self.lines += 1;
    }

    /// Sends the block to every shard that has subscribers. Never waits.
    pub(super) fn send(&mut self) {
        if self.block.is_empty() {
            return;
        }
        let block: Arc<[u8]> = Arc::from(&self.block[..]);
        for (shard, target) in self.targets.iter_mut().enumerate() {
            if self.audience.has(shard) && !target.send(&block) {
                self.refused += self.lines;
            }
        }
        self.block.clear();
        self.lines = 0;
    }

    /// Tells those who missed lines so, and ends. Says how many lines were refused.
    pub(super) async fn finish(self) -> u64 {
        for mut target in self.targets {
            let Some(lane) = target.lane.as_mut().filter(|_| target.missed) else {
                continue;
            };
            // Nobody needs to know any more when the other end is gone.
            drop(lane.send(News::Missed).await);
        }
        self.refused
    }
}

impl Target {
    /// Sends `block` if there is room, and if nothing is missing before it.
    fn send(&mut self, block: &Arc<[u8]>) -> bool {
        let lane = self.lane.get_or_insert_with(|| {
            let (producer, consumer) = lane(LANE_SLOTS);
            if let Err(Full(_)) = self.door.bring(consumer) {
                unreachable!("a door has room for one lane a shard");
            }
            producer
        });
        self.missed = self.missed && lane.push(News::Missed).is_err();
        if !self.missed {
            self.missed = lane.push(News::Lines(Arc::clone(block))).is_err();
        }
        lane.notify();
        !self.missed
    }
}

#[cfg(test)]
mod tests {
    use super::super::block_on::block_on;
    use super::super::door::door;
    use super::*;
    use crate::feed::{Books, Generator, KEPT_UPDATES_MAX};

    /// Publishes a block of one line.
    fn publish(publisher: &mut Publisher) {
        let mut books = Books::new(KEPT_UPDATES_MAX);
        let (_, book) = books.apply(Generator::new(1).next().unwrap()).unwrap();
        publisher.top(book);
        publisher.send();
    }

    #[test]
    fn a_shard_that_does_not_keep_up_is_told_what_it_missed() {
        let audience = Arc::new(Audience::new(2));
        let (doors, mut halls): (Vec<_>, Vec<_>) = (0..2).map(|_| door(2)).unzip();
        let mut publisher = Publisher::new(Arc::clone(&audience), doors);
        assert!(!publisher.has_audience());
        audience.set(1, 1);
        assert!(publisher.has_audience());
        for _ in 0..LANE_SLOTS + 3 {
            publish(&mut publisher);
        }
        assert_eq!(publisher.refused(), 3);
        let mut lane = block_on(halls[1].next()).unwrap();
        let mut got: Vec<_> = lane.read_chunk(LANE_SLOTS).collect();
        assert!(got.iter().all(|news| matches!(news, News::Lines(_))));
        publish(&mut publisher);
        got = lane.read_chunk(LANE_SLOTS).collect();
        // The gap stands where it is, before what came later.
        assert!(matches!(got[..], [News::Missed, News::Lines(_)]), "{got:?}");

        for _ in 0..=LANE_SLOTS {
            publish(&mut publisher);
        }
        drop(lane.pop());
        assert_eq!(block_on(publisher.finish()), 4);
        got = lane.read_chunk(LANE_SLOTS).collect();
        assert!(matches!(got.last(), Some(News::Missed)));
        // Nobody listens on the other shard, so no lane goes there.
        assert!(block_on(halls[0].next()).is_none());
    }
}
