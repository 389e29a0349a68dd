//! Any sequence of calls on a lane answers as a bounded `VecDeque` with two sleepers does.
//!
//! `PROPTEST_CASES` sets how many sequences are tried; the default is a million calls in all.
#![cfg(not(corelane_loom))]

#[path = "support/oracle.rs"]
mod oracle;

use corelane_primitives::{Closed, Consumer, Full, Producer, lane_with_start};
use proptest::collection::vec;
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

const CALLS_MAX: usize = 1_000;

#[derive(Clone, Debug)]
enum Call {
    Push,
    PushBatch {
        offered: usize,
    },
    WriteChunk {
        slots: usize,
        filled: usize,
        commit: bool,
    },
    PollRoom {
        slots: usize,
    },
    TellConsumer,
    UnparkProducer,
    DropProducer,
    Pop,
    PopBatch {
        max: usize,
    },
    ReadChunk {
        max: usize,
        taken: usize,
        forget: bool,
    },
    PollReady,
    TellProducer,
    UnparkConsumer,
    DropConsumer,
}

/// A call from 32 random bits: a strategy that builds each call costs far more than the calls.
fn call(bits: u32) -> Call {
    let [kind, a, b, c] = bits.to_le_bytes();
    let (few, fewer, odd) = (usize::from(a % 10), usize::from(b % 10), c % 2 == 1);
    match kind {
        0..50 => Call::Push,
        50..70 => Call::PushBatch { offered: few },
        70..90 => Call::WriteChunk {
            slots: few,
            filled: fewer,
            commit: odd,
        },
        90..110 => Call::PollRoom { slots: few },
        110..130 => Call::TellConsumer,
        130..135 => Call::UnparkProducer,
        135..185 => Call::Pop,
        185..200 => Call::PopBatch { max: few },
        200..215 => Call::ReadChunk {
            max: few,
            taken: fewer,
            forget: odd,
        },
        215..230 => Call::PollReady,
        230..250 => Call::TellProducer,
        250..254 => Call::UnparkConsumer,
        254 if a < 8 => Call::DropProducer,
        255 if a < 8 => Call::DropConsumer,
        _ => Call::Push,
    }
}

#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A value that strikes itself off the list of living ones.
#[derive(Debug)]
struct Token {
    id: usize,
    living: Rc<RefCell<Vec<bool>>>,
}

impl Drop for Token {
    fn drop(&mut self) {
        let alive = std::mem::replace(&mut self.living.borrow_mut()[self.id], false);
        assert!(
            alive || std::thread::panicking(),
            "{} dropped twice",
            self.id
        );
    }
}

/// One sleeper of the oracle: asleep and not yet rung, and how often it was rung.
#[derive(Default)]
struct Sleeper {
    asleep: bool,
    rings: usize,
}

impl Sleeper {
    fn ring(&mut self) -> bool {
        let asleep = std::mem::take(&mut self.asleep);
        self.rings += usize::from(asleep);
        asleep
    }
}

struct Run {
    producer: Option<Producer<Token>>,
    consumer: Option<Consumer<Token>>,
    bells: [(Arc<Bell>, Waker); 2],
    living: Rc<RefCell<Vec<bool>>>,
    /// The oracle.
    capacity: usize,
    inside: VecDeque<usize>,
    /// Slots taken from a forgotten chunk and not yet handed back.
    held: usize,
    wanted: usize,
    sleepers: [Sleeper; 2],
}

const PRODUCER: usize = 0;
const CONSUMER: usize = 1;

impl Run {
    fn new(capacity: usize, start: usize) -> Self {
        let (producer, consumer) = lane_with_start(capacity, start).expect("a power of two");
        let bell = || {
            let bell = Arc::new(Bell::default());
            (bell.clone(), Waker::from(bell))
        };
        Self {
            producer: Some(producer),
            consumer: Some(consumer),
            bells: [bell(), bell()],
            living: Rc::default(),
            capacity,
            inside: VecDeque::new(),
            held: 0,
            wanted: 0,
            sleepers: Default::default(),
        }
    }

    fn free(&self) -> usize {
        self.capacity - self.inside.len() - self.held
    }

    fn token(living: &Rc<RefCell<Vec<bool>>>) -> Token {
        let id = living.borrow().len();
        living.borrow_mut().push(true);
        Token {
            id,
            living: living.clone(),
        }
    }

    fn step(&mut self, call: &Call) {
        if let Some(producer) = self.producer.take() {
            self.producer = self.produce(producer, call);
        }
        if let Some(consumer) = self.consumer.take() {
            self.consumer = self.consume(consumer, call);
        }
        if let Some(producer) = &self.producer {
            assert_eq!(producer.is_abandoned(), self.consumer.is_none());
            assert_eq!(producer.slots(), self.free());
        }
        if let Some(consumer) = &self.consumer {
            assert_eq!(consumer.is_abandoned(), self.producer.is_none());
            assert_eq!(consumer.len(), self.inside.len());
        }
        for (sleeper, (bell, _)) in self.sleepers.iter().zip(&self.bells) {
            assert_eq!(bell.0.load(Ordering::Relaxed), sleeper.rings);
        }
    }

    fn produce(&mut self, mut producer: Producer<Token>, call: &Call) -> Option<Producer<Token>> {
        let free = self.free();
        let living = self.living.clone();
        let next = living.borrow().len();
        match *call {
            Call::Push => match producer.push(Self::token(&living)) {
                Ok(()) => {
                    assert_ne!(free, 0);
                    self.inside.push_back(next);
                }
                Err(Full(token)) => assert_eq!((free, token.id), (0, next)),
            },
            Call::PushBatch { offered } => {
                let mut tokens = std::iter::repeat_with(|| Self::token(&living)).take(offered);
                let pushed = producer.push_batch(&mut tokens);
                assert_eq!(pushed, offered.min(free));
                self.inside.extend(next..next + pushed);
            }
            Call::WriteChunk {
                slots,
                filled,
                commit,
            } => {
                let mut chunk = producer.write_chunk(slots);
                assert_eq!(chunk.slots(), slots.min(free));
                for _ in 0..filled.min(slots).min(free) {
                    assert!(chunk.push(Self::token(&living)).is_ok());
                }
                if commit {
                    let committed = chunk.commit();
                    assert_eq!(committed, filled.min(slots).min(free));
                    self.inside.extend(next..next + committed);
                }
            }
            Call::PollRoom { slots } => {
                let slots = slots.min(self.capacity);
                let mut cx = Context::from_waker(&self.bells[PRODUCER].1);
                let expected = if self.consumer.is_none() {
                    Poll::Ready(Err(Closed(())))
                } else if free >= slots {
                    Poll::Ready(Ok(()))
                } else {
                    self.wanted = slots;
                    self.sleepers[CONSUMER].ring();
                    Poll::Pending
                };
                self.sleepers[PRODUCER].asleep = expected.is_pending();
                assert_eq!(producer.poll_room(&mut cx, slots), expected);
            }
            Call::TellConsumer => assert_eq!(producer.notify(), self.sleepers[CONSUMER].ring()),
            Call::UnparkProducer => {
                producer.unpark();
                self.sleepers[PRODUCER].asleep = false;
            }
            Call::DropProducer => {
                self.sleepers[PRODUCER].asleep = false;
                self.sleepers[CONSUMER].ring();
                return None;
            }
            _ => {}
        }
        Some(producer)
    }

    fn consume(&mut self, mut consumer: Consumer<Token>, call: &Call) -> Option<Consumer<Token>> {
        match *call {
            Call::Pop => {
                let popped = consumer.pop().map(|token| token.id);
                if popped.is_some() {
                    self.held = 0;
                }
                assert_eq!(popped, self.inside.pop_front());
            }
            Call::PopBatch { max } => {
                let mut out = Vec::new();
                let popped = consumer.pop_batch(&mut out, max);
                self.held = 0;
                let expected = self.inside.drain(..max.min(self.inside.len()));
                assert!(out.iter().map(|token| token.id).eq(expected));
                assert_eq!(out.len(), popped);
            }
            Call::ReadChunk { max, taken, forget } => {
                let mut chunk = consumer.read_chunk(max);
                assert_eq!(chunk.len(), max.min(self.inside.len()));
                let mut yielded = 0;
                for token in chunk.by_ref().take(taken) {
                    assert_eq!(Some(token.id), self.inside.pop_front());
                    yielded += 1;
                }
                if forget {
                    std::mem::forget(chunk);
                    self.held += yielded;
                } else {
                    self.held = 0;
                }
            }
            Call::PollReady => {
                let mut cx = Context::from_waker(&self.bells[CONSUMER].1);
                let expected = if !self.inside.is_empty() {
                    Poll::Ready(true)
                } else if self.producer.is_none() {
                    Poll::Ready(false)
                } else {
                    self.sleepers[PRODUCER].ring();
                    Poll::Pending
                };
                self.sleepers[CONSUMER].asleep = expected.is_pending();
                assert_eq!(consumer.poll_ready(&mut cx), expected);
            }
            Call::TellProducer => {
                let enough = self.free() >= self.wanted;
                assert_eq!(consumer.notify(), enough && self.sleepers[PRODUCER].ring());
            }
            Call::UnparkConsumer => {
                consumer.unpark();
                self.sleepers[CONSUMER].asleep = false;
            }
            Call::DropConsumer => {
                self.sleepers[CONSUMER].asleep = false;
                self.sleepers[PRODUCER].ring();
                self.inside.clear();
                self.held = 0;
                return None;
            }
            _ => {}
        }
        Some(consumer)
    }

    fn end(mut self, producer_first: bool) {
        if producer_first {
            drop(self.producer.take());
        }
        drop(self.consumer.take());
        drop(self.producer.take());
        let living = self.living.borrow();
        assert!(
            living.iter().all(|alive| !alive),
            "a value was never dropped"
        );
    }
}

proptest! {
    #![proptest_config(oracle::sequences(2_000))]

    // proves: L-2
    // proves: W-1
    #[test]
    fn lane_answers_as_its_oracle(
        capacity_log2 in 0..5_u32,
        before_wrap in 0..64_usize,
        calls in vec(any::<u32>(), 0..CALLS_MAX),
        producer_first: bool,
    ) {
        let mut run = Run::new(1 << capacity_log2, usize::MAX - before_wrap);
        for &bits in &calls {
            run.step(&call(bits));
        }
        run.end(producer_first);
    }
}
