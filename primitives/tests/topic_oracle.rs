//! Any sequence of calls on a topic and its feeds answers as one bounded queue a feed does.
//!
//! Feeds live on several shards of one thread, with capacities and policies of their own.
//! `PROPTEST_CASES` sets how many sequences are tried.
#![cfg(not(corelane_loom))]

#[path = "support/oracle.rs"]
mod oracle;

use corelane_primitives::{
    Closed, DetachedFeed, Feed, FeedError, FeedStats, NextError, Order, Topic, TopicOverflow,
    TryPublishError,
};
use futures_core::Stream;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use thread_aware::affinity::{Affinity, enter, pinned_affinities};

const CALLS_MAX: usize = 200;
const FEEDS_MAX: usize = 6;
const SHARDS: usize = 3;

/// A value that shows by its count whether all of its copies are gone.
#[derive(Clone)]
struct Token(
    u64,
    #[expect(dead_code, reason = "its count is looked at")] Arc<()>,
);

#[derive(Default)]
struct Bell(AtomicUsize);

impl Bell {
    fn rings(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// What one poll of a batch answered, and took.
type Batch = (Poll<Result<usize, FeedError>>, Vec<u64>);

/// A feed of a shard, or a detached one.
trait Either {
    fn try_next(&mut self) -> Result<u64, NextError>;
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<u64, FeedError>>>;
    fn poll_batch(&mut self, max: usize) -> Batch;
    fn stats(&self) -> FeedStats;
    fn detach(self: Box<Self>) -> Box<dyn Either>;
}

macro_rules! either {
    ($feed:ty, |$this:ident| $detach:expr) => {
        impl Either for $feed {
            fn try_next(&mut self) -> Result<u64, NextError> {
                Self::try_next(self).map(|token| token.0)
            }

            fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<u64, FeedError>>> {
                let polled = Stream::poll_next(Pin::new(self), cx);
                polled.map(|item| item.map(|answer| answer.map(|token| token.0)))
            }

            fn poll_batch(&mut self, max: usize) -> Batch {
                let mut out = Vec::new();
                let polled = {
                    let mut batch = std::pin::pin!(self.next_batch(&mut out, max));
                    batch.as_mut().poll(&mut Context::from_waker(Waker::noop()))
                };
                (polled, out.iter().map(|token| token.0).collect())
            }

            fn stats(&self) -> FeedStats {
                Self::stats(self)
            }

            fn detach(self: Box<Self>) -> Box<dyn Either> {
                let $this = self;
                $detach
            }
        }
    };
}

either!(Feed<Token>, |this| Box::new(Feed::detach(*this)));
either!(DetachedFeed<Token>, |this| this);

/// A feed and its oracle.
struct Reader {
    /// Gone for a moment only, while it is detached.
    feed: Option<Box<dyn Either>>,
    is_detached: bool,
    bell: Arc<Bell>,
    capacity: usize,
    overflow: TopicOverflow,
    expected: VecDeque<u64>,
    delivered: u64,
    dropped: u64,
    /// Whether its last poll was Pending.
    waits: bool,
    /// Rings that were seen.
    seen: usize,
}

impl Reader {
    fn feed(&mut self) -> &mut dyn Either {
        &mut **self.feed.as_mut().expect("it is there between calls")
    }

    fn detach(&mut self) {
        let feed = self.feed.take().expect("it is there between calls");
        self.feed = Some(feed.detach());
        if !std::mem::replace(&mut self.is_detached, true) {
            self.stops_waiting();
        }
    }

    fn woken(&self) -> bool {
        self.bell.rings() > self.seen
    }

    fn stops_waiting(&mut self) {
        self.waits = false;
        self.seen = self.bell.rings();
    }

    fn is_full(&self) -> bool {
        self.expected.len() == self.capacity
    }

    fn offer(&mut self, value: u64) {
        match self.overflow {
            TopicOverflow::DropNew if self.is_full() => self.dropped += 1,
            TopicOverflow::DropOldest if self.is_full() => {
                self.expected.pop_front();
                self.expected.push_back(value);
                self.dropped += 1;
            }
            _ => self.expected.push_back(value),
        }
    }

    /// What a poll must have answered.
    fn took(&mut self, answer: Result<u64, NextError>, closed: bool) {
        match self.expected.pop_front() {
            Some(value) => {
                assert_eq!(answer, Ok(value));
                self.delivered += 1;
            }
            None if closed => assert_eq!(answer, Err(NextError::Closed)),
            None => assert_eq!(answer, Err(NextError::Empty)),
        }
    }

    fn poll(&mut self, closed: bool) {
        self.seen = self.bell.rings();
        let waker = Waker::from(self.bell.clone());
        let mut cx = Context::from_waker(&waker);
        let polled = self.feed().poll_next(&mut cx);
        self.waits = polled.is_pending();
        self.took(
            match polled {
                Poll::Ready(Some(Ok(value))) => Ok(value),
                Poll::Ready(Some(Err(error))) => Err(NextError::Failed(error)),
                Poll::Ready(None) => Err(NextError::Closed),
                Poll::Pending => Err(NextError::Empty),
            },
            closed,
        );
    }

    fn batch(&mut self, max: usize, closed: bool) {
        let (polled, got) = self.feed().poll_batch(max);
        // A future that is dropped takes back the wait of an earlier poll too, if it has waited.
        if max > 0 {
            self.stops_waiting();
        }
        let count = self.expected.len().min(max);
        if count > 0 || closed || max == 0 {
            assert_eq!(polled, Poll::Ready(Ok(count)));
        } else {
            assert_eq!(polled, Poll::Pending);
        }
        assert_eq!(got, self.expected.drain(..count).collect::<Vec<_>>());
        self.delivered += count as u64;
    }

    fn check(&self) {
        let stats = self.feed.as_ref().map(|feed| feed.stats());
        let stats = stats.expect("it is there between calls");
        assert_eq!(stats.delivered, self.delivered);
        assert_eq!(stats.dropped, self.dropped);
        assert_eq!(stats.lag, self.expected.len() as u64);
        assert!(self.waits || !self.woken(), "woken without waiting");
    }
}

type Pending = Pin<Box<dyn Future<Output = Result<(), Closed<Token>>>>>;

struct Run {
    topic: Option<Topic<Token>>,
    shards: Vec<Affinity>,
    root: Arc<()>,
    readers: Vec<Reader>,
    pending: VecDeque<(u64, Pending, Arc<Bell>, usize)>,
    closed: bool,
    next: u64,
}

impl Run {
    fn new(capacity: usize, order: Order) -> Self {
        let topic = Topic::new(capacity, TopicOverflow::Backpressure);
        Self {
            topic: Some(topic.order(order)),
            shards: pinned_affinities(&[SHARDS]),
            root: Arc::new(()),
            readers: Vec::new(),
            pending: VecDeque::new(),
            closed: false,
            next: 0,
        }
    }

    fn token(&mut self) -> Token {
        self.next += 1;
        Token(self.next, self.root.clone())
    }

    fn is_full(&self) -> bool {
        let full =
            |reader: &Reader| reader.overflow == TopicOverflow::Backpressure && reader.is_full();
        self.readers.iter().any(full)
    }

    fn offer(&mut self, value: u64) {
        self.readers
            .iter_mut()
            .for_each(|reader| reader.offer(value));
    }

    fn topic(&self) -> &Topic<Token> {
        self.topic.as_ref().expect("it is there until the end")
    }

    fn step(&mut self, bits: u32) {
        let [kind, a, b, c] = bits.to_le_bytes();
        let which = usize::from(a) % self.readers.len().max(1);
        match kind {
            0..90 => self.try_publish(),
            90..110 => self.publish(),
            110..115 if !self.pending.is_empty() => {
                self.pending.remove(usize::from(a) % self.pending.len());
            }
            115..135 if self.readers.len() < FEEDS_MAX => self.subscribe(a, b, c),
            135..140 if !self.readers.is_empty() => drop(self.readers.swap_remove(which)),
            140..190 if !self.readers.is_empty() => {
                let closed = self.closed;
                let reader = &mut self.readers[which];
                let answer = reader.feed().try_next();
                if answer.is_ok() || closed {
                    reader.stops_waiting();
                }
                reader.took(answer, closed);
            }
            190..225 if !self.readers.is_empty() => self.readers[which].poll(self.closed),
            225..245 if !self.readers.is_empty() => {
                self.readers[which].batch(usize::from(b) % 9, self.closed);
            }
            245 if a < 32 => {
                self.topic().close();
                self.closed = true;
            }
            246..248 if !self.readers.is_empty() => self.readers[which].detach(),
            248..252 => self.poll_woken(),
            _ => self.try_publish(),
        }
        self.poll_publishers();
        self.readers.iter().for_each(Reader::check);
    }

    fn try_publish(&mut self) {
        let token = self.token();
        let value = token.0;
        let full = self.is_full();
        let turns = self.topic().stats().control_turns;
        match self.topic().try_publish(token) {
            Ok(()) => {
                assert!(!full && !self.closed);
                self.offer(value);
            }
            Err(TryPublishError::Full(back)) => {
                assert!(full && !self.closed && back.0 == value);
            }
            Err(TryPublishError::Closed(back)) => assert!(self.closed && back.0 == value),
            Err(error) => panic!("{error} on one thread"),
        }
        assert_eq!(self.topic().stats().control_turns, turns);
    }

    fn publish(&mut self) {
        let token = self.token();
        let value = token.0;
        let topic = self.topic().clone();
        let future: Pending = Box::pin(async move { topic.publish(token).await });
        let bell = Arc::new(Bell::default());
        bell.0.fetch_add(1, Ordering::Relaxed);
        self.pending.push_back((value, future, bell, 0));
    }

    /// Polls every publisher that was woken; then who still waits has no room.
    fn poll_publishers(&mut self) {
        let mut waiting = std::mem::take(&mut self.pending);
        while let Some((value, mut future, bell, seen)) = waiting.pop_front() {
            let rings = bell.rings();
            if rings == seen {
                self.pending.push_back((value, future, bell, seen));
                continue;
            }
            let waker = Waker::from(bell.clone());
            match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(Ok(())) => {
                    assert!(self.pending.is_empty(), "a later publisher went first");
                    assert!(!self.is_full() && !self.closed);
                    self.offer(value);
                }
                Poll::Ready(Err(Closed(back))) => assert!(self.closed && back.0 == value),
                Poll::Pending => self.pending.push_back((value, future, bell, rings)),
            }
        }
        assert!(self.pending.is_empty() || (self.is_full() && !self.closed));
    }

    fn subscribe(&mut self, a: u8, b: u8, c: u8) {
        let shard = self.shards[usize::from(a) % SHARDS];
        let capacity = usize::from(b) % self.topic().capacity() + 1;
        let overflow = match c % 3 {
            0 => TopicOverflow::Backpressure,
            1 => TopicOverflow::DropNew,
            _ => TopicOverflow::DropOldest,
        };
        let _entered = enter(shard, Rc::new(()));
        let feed = self.topic().subscribe_with(capacity, overflow);
        self.readers.push(Reader {
            feed: Some(Box::new(feed.expect("the capacity is at most the topic's"))),
            is_detached: false,
            bell: Arc::default(),
            capacity,
            overflow,
            expected: VecDeque::new(),
            delivered: 0,
            dropped: 0,
            waits: false,
            seen: 0,
        });
    }

    /// Runs every woken feed until none is; then nobody waits for what is there.
    fn poll_woken(&mut self) {
        while let Some(reader) = self.readers.iter_mut().find(|reader| reader.woken()) {
            reader.poll(self.closed);
            self.poll_publishers();
        }
        for reader in self.readers.iter().filter(|reader| reader.waits) {
            assert!(
                reader.expected.is_empty() && !self.closed,
                "a wake was lost"
            );
        }
    }

    fn end(mut self) {
        self.poll_woken();
        self.pending.clear();
        drop(self.topic.take());
        self.closed = true;
        self.poll_woken();
        for reader in &mut self.readers {
            while !reader.expected.is_empty() {
                reader.poll(true);
            }
            reader.poll(true);
            reader.check();
        }
        self.readers.clear();
        assert_eq!(
            Arc::strong_count(&self.root),
            1,
            "a value was never dropped"
        );
    }
}

proptest! {
    #![proptest_config(oracle::sequences(2_000))]

    // proves: T-1
    // proves: T-3
    // proves: T-4
    // proves: T-5
    // proves: T-6
    // proves: T-8
    // proves: T-9
    // proves: S-1
    #[test]
    fn topic_answers_as_its_oracle(
        capacity in 1..9_usize,
        calls in vec(any::<u32>(), 0..CALLS_MAX),
        // One thread is one publisher, so the answers are the same.
        one_order: bool,
    ) {
        let order = if one_order { Order::Total } else { Order::PerPublisher };
        let mut run = Run::new(capacity, order);
        for &bits in &calls {
            run.step(bits);
        }
        run.end();
    }
}
