//! What a full ring refuses: seen, counted, and made up for.

use corelane_examples::feed::{Book, Generator, InstrumentId, KEPT_UPDATES_MAX, Update};
use corelane_examples::words::{Follower, Followers, Quote, Quoter, SEQUENCES, feed_side};
use corelane_primitives::{Consumer64, Ring64};
use proptest::prelude::*;

/// One decoder and one book, with a ring between them.
struct Pair {
    quoter: Quoter,
    reader: Reader,
}

/// The book's side.
struct Reader {
    followers: Followers,
    words: Consumer64,
    book: Book,
}

impl Pair {
    fn new(slots: usize) -> Self {
        let (ring, words) = Ring64::new(slots);
        let (quoter, follower) = feed_side(Generator::of(5, id()), id(), ring).unwrap();
        let reader = Reader {
            followers: [follower].into_iter().collect(),
            words,
            book: Book::new(id().instrument().symbol(), KEPT_UPDATES_MAX),
        };
        Self { quoter, reader }
    }

    /// Offers updates until `count` words are staged exactly, and pushes them. Says how many were
    /// refused.
    fn offer(&mut self, count: usize) -> u64 {
        let mut refused = 0;
        let mut left = count;
        while left > 0 {
            let Some(Update::Depth(depth)) = self.quoter.feed().next() else {
                continue;
            };
            self.quoter.stage(&depth).unwrap();
            let staged = self.quoter.staged();
            // An update has one word to four; what is too many waits for no test.
            left = left.saturating_sub(staged);
            refused += self.quoter.send(1).unwrap();
        }
        refused
    }

    /// Offers until the ring has refused `wanted` words exactly, one update at a time.
    fn refuse_exactly(&mut self, wanted: u64) -> bool {
        let mut refused = 0;
        while refused < wanted {
            refused += self.offer(1);
        }
        refused == wanted
    }

    fn drain(&mut self) -> u64 {
        self.reader.drain()
    }

    /// Whether the book is what the feed says it is.
    fn is_true(&mut self) -> bool {
        let truth = self.quoter.feed().snapshot(id());
        self.reader.book.is_current() && self.reader.has(truth)
    }
}

impl Reader {
    /// Takes what is in the ring. Says how many gaps the book found.
    fn drain(&mut self) -> u64 {
        let gaps = self.book.counts().gaps;
        while let Some(word) = self.words.pop() {
            let quote = Quote::unpack(word).unwrap();
            self.asides();
            if let Some(update) = self.followers.of(&quote).unwrap().follow(&quote) {
                self.book.apply(update);
            }
        }
        self.asides();
        self.book.counts().gaps - gaps
    }

    fn asides(&mut self) {
        for follower in self.followers.iter_mut() {
            while let Some(snapshot) = follower.aside() {
                self.book.apply(snapshot);
            }
        }
    }

    fn follower(&self) -> &Follower {
        self.followers.iter().next().unwrap()
    }

    fn has(&self, truth: Update) -> bool {
        let Update::Snapshot(truth) = truth else {
            panic!("a snapshot is one");
        };
        self.book.bids().eq(truth.bids) && self.book.asks().eq(truth.asks)
    }
}

fn id() -> InstrumentId {
    InstrumentId::named("NQ".parse().unwrap()).unwrap()
}

/// A pair whose ring is full and has then refused `wanted` words exactly. Which updates come
/// decides whether that can be, so pairs are fed more and more before it.
fn refusing(wanted: u64) -> Pair {
    for fed in 0..100 {
        let mut pair = Pair::new(64);
        for _ in 0..fed {
            pair.offer(1);
            pair.drain();
        }
        // The last update before the refusals fills the ring to its last slot.
        while pair.quoter.ring().occupancy() < 60 {
            pair.offer(1);
        }
        if pair.refuse_exactly(wanted) {
            return pair;
        }
    }
    panic!("no feed refuses {wanted} words exactly");
}

#[test]
fn without_a_refusal_the_book_is_the_feeds() {
    let mut pair = Pair::new(4096);
    for _ in 0..2_000 {
        assert_eq!(pair.offer(1), 0);
        if pair.quoter.ring().occupancy() > 4_000 {
            pair.drain();
        }
    }
    assert_eq!(pair.drain(), 0);
    assert!(pair.is_true());
    let discarded = pair.reader.follower().discarded();
    assert_eq!((discarded, pair.reader.book.counts().stale), (0, 0));
}

#[test]
fn a_refusal_is_a_gap_that_the_answer_heals() {
    for wanted in [1, 2, 31, 33, 63, 65, 200] {
        let mut pair = refusing(wanted);
        let early = pair.drain();
        // What is before a hole is whole, unless so much is missing that five bits do not tell.
        assert!(early == 0 || wanted >= SEQUENCES, "{wanted}");
        assert_eq!(pair.offer(8), 0);
        assert_eq!(early + pair.drain(), 1, "{wanted}");
        assert!(!pair.reader.book.is_current());
        assert_eq!(pair.quoter.ring().refused(), wanted);

        // Words that come before the answer are of no use; the answer stands where it was given.
        pair.offer(8);
        pair.quoter.answer().unwrap();
        pair.offer(8);
        assert_eq!(pair.drain(), 0);
        assert!(pair.is_true(), "{wanted}");
        assert!(pair.reader.follower().discarded() >= 8);
        pair.quoter.answer().unwrap();
        pair.drain();
        assert_eq!(pair.reader.follower().snapshots(), 2, "nobody asks twice");
    }
}

// A gap of 32 is invisible in five bits; the count of 64 bits beside them shows it.
#[test]
fn a_refusal_of_exactly_32_is_seen() {
    for wanted in [SEQUENCES, 2 * SEQUENCES] {
        let mut pair = refusing(wanted);
        assert_eq!(pair.reader.follower().missed(), wanted);
        pair.drain();
        pair.offer(1);
        pair.drain();
        assert_eq!(pair.reader.book.counts().gaps, 1);
        assert!(!pair.reader.book.is_current());
        pair.quoter.answer().unwrap();
        pair.offer(8);
        pair.drain();
        assert!(pair.is_true());
    }
}

#[test]
fn what_is_missing_at_the_end_is_made_up_for_unasked() {
    let Pair {
        mut quoter,
        mut reader,
    } = refusing(5);
    let truth = quoter.feed().snapshot(id());
    assert_eq!(quoter.finish().unwrap(), 5);
    reader.drain();
    assert!(reader.words.is_finished() && reader.book.is_current());
    assert!(reader.has(truth));
}

proptest! {
    #[test]
    fn a_book_heals_whatever_is_refused_and_when(
        steps in prop::collection::vec((1..200_usize, 0..4_u8), 1..60),
    ) {
        let mut pair = Pair::new(64);
        for (count, then) in steps {
            pair.offer(count);
            match then {
                0 => pair.quoter.answer().unwrap(),
                1 | 2 => drop(pair.drain()),
                _ => {}
            }
            let missed = pair.reader.follower().missed();
            prop_assert_eq!(pair.quoter.ring().refused(), missed);
        }
        // Once the ring has room, at most three turns heal it: one shows the hole, one answers.
        for _ in 0..3 {
            pair.drain();
            pair.quoter.answer().unwrap();
            pair.offer(4);
        }
        pair.drain();
        prop_assert!(pair.is_true());
    }
}
