//! From a shard's books to the shards that have subscribers.
//!
//! Lines are made once, where the book is, and only while somebody listens. What a batch changed
//! goes as one block to each shard with subscribers. A lane that is full is no reason to wait: its
//! lines are counted as refused, and the subscribers there are told that they missed some.
//!
//! A shard that has new subscribers asks for the best prices as they are. They come over the same
//! lane, so that whoever gets them misses nothing and is told nothing twice but what they say.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use corelane_primitives::{Consumer, Full, Producer, lane};

use super::door::Door;
use crate::feed::{Book, Books, Top, Update, write_top, write_trade};

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
    /// The best prices of all books of the shard `owner`, for those who have none from it yet.
    Snapshot { owner: usize, lines: Arc<[u8]> },
}

/// The publishing end of one shard.
#[derive(Debug)]
pub(super) struct Publisher {
    shard: usize,
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
    /// Publishes from `shard` through these doors, one a shard.
    pub(super) fn new(
        shard: usize,
        audience: Arc<Audience>,
        doors: Vec<Door<Consumer<News>>>,
    ) -> Self {
        let targets = doors
            .into_iter()
            .map(|door| Target {
                door,
                lane: None,
                missed: false,
            })
            .collect();
        Self {
            shard,
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

    /// Sends the shard `to` the best prices of all `books` as soon as its lane has room.
    pub(super) fn poll_snapshot(
        &mut self,
        cx: &mut Context<'_>,
        to: usize,
        books: &Books,
    ) -> Poll<()> {
        let target = &mut self.targets[to];
        let missed = target.missed;
        let lane = target.lane();
        if ready!(lane.poll_room(cx, 1 + usize::from(missed))).is_err() {
            // The shard has ended.
            return Poll::Ready(());
        }
        let news = News::Snapshot {
            owner: self.shard,
            lines: best_prices(books),
        };
        let missed = missed.then_some(News::Missed);
        lane.push_batch(&mut missed.into_iter().chain([news]));
        lane.notify();
        target.missed = false;
        Poll::Ready(())
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
        let mut missed = self.missed;
        let lane = self.lane();
        missed = missed && lane.push(News::Missed).is_err();
        if !missed {
            missed = lane.push(News::Lines(Arc::clone(block))).is_err();
        }
        lane.notify();
        self.missed = missed;
        !missed
    }

    /// The lane, which is made when it is first used.
    fn lane(&mut self) -> &mut Producer<News> {
        self.lane.get_or_insert_with(|| {
            let (producer, consumer) = lane(LANE_SLOTS);
            if let Err(Full(_)) = self.door.bring(consumer) {
                unreachable!("a door has room for one lane a shard");
            }
            producer
        })
    }
}

/// A line a book that has a price.
fn best_prices(books: &Books) -> Arc<[u8]> {
    let mut lines = Vec::new();
    for book in books.iter().filter(|book| book.top() != Top::default()) {
        write_top(&mut lines, book.symbol(), book.last_id(), &book.top())
            .expect("writing to memory does not fail");
    }
    Arc::from(lines)
}

#[cfg(test)]
mod tests {
    use super::super::block_on::block_on;
    use super::super::door::door;
    use super::*;
    use crate::feed::{Generator, KEPT_UPDATES_MAX};
    use std::task::Waker;

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
        let mut publisher = Publisher::new(0, Arc::clone(&audience), doors);
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

    #[test]
    fn a_shard_that_asks_is_told_the_best_prices_once_there_is_room() {
        let mut books = Books::new(KEPT_UPDATES_MAX);
        for update in Generator::new(1).take(100) {
            books.apply(update).unwrap();
        }
        let (doors, mut halls): (Vec<_>, Vec<_>) = (0..2).map(|_| door(2)).unzip();
        let audience = Arc::new(Audience::new(2));
        audience.set(1, 1);
        let mut publisher = Publisher::new(0, audience, doors);
        let mut cx = Context::from_waker(Waker::noop());
        assert!(publisher.poll_snapshot(&mut cx, 1, &books).is_ready());
        let mut lane = block_on(halls[1].next()).unwrap();
        let Some(News::Snapshot { owner: 0, lines }) = lane.pop() else {
            panic!("no prices came");
        };
        let mut expected = Vec::new();
        for book in books.iter() {
            write_top(&mut expected, book.symbol(), book.last_id(), &book.top()).unwrap();
        }
        assert_eq!(*lines, *expected);

        // A full lane, and lines that are missing behind it.
        for _ in 0..=LANE_SLOTS {
            publish(&mut publisher);
        }
        assert!(publisher.poll_snapshot(&mut cx, 1, &books).is_pending());
        drop(lane.pop());
        assert!(publisher.poll_snapshot(&mut cx, 1, &books).is_pending());
        drop(lane.pop());
        assert!(publisher.poll_snapshot(&mut cx, 1, &books).is_ready());
        let got: Vec<_> = lane.read_chunk(LANE_SLOTS).collect();
        let [.., News::Missed, News::Snapshot { .. }] = &got[..] else {
            panic!("{got:?}");
        };
        // Nobody has to be told again that lines are missing.
        publish(&mut publisher);
        assert!(matches!(lane.pop(), Some(News::Lines(_))));
        drop(lane);
        assert!(publisher.poll_snapshot(&mut cx, 1, &books).is_ready());
    }
}
