//! One random sequence of calls, on a ring and on its model.

use crate::bell::{Bell, ByHand, bell};
use crate::model::{Look, Model, Place, Wait};
use crate::settle::settle;
use corelane_primitives::{Claim, PushError, Ring, RingConsumer, Timers};
use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

const CALLS_MAX: u64 = 60;
const WAITS_MAX: usize = 3;

/// xorshift64*: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % limit
    }
}

/// A value that strikes itself off the list of living ones.
struct Token {
    id: u64,
    living: Rc<RefCell<Vec<bool>>>,
}

impl Drop for Token {
    fn drop(&mut self) {
        let alive = std::mem::replace(&mut self.living.borrow_mut()[self.id as usize], false);
        assert!(
            alive || std::thread::panicking(),
            "{} dropped twice",
            self.id
        );
    }
}

type Push<'a> = Pin<Box<dyn Future<Output = Result<(), PushError<Token>>> + 'a>>;

struct Run<'a> {
    ring: &'a Ring<Token>,
    living: Rc<RefCell<Vec<bool>>>,
    consumer: Option<RingConsumer<Token>>,
    clock: Arc<ByHand>,
    claims: Vec<(u64, Claim<'a, Token>)>,
    pushes: Vec<(Push<'a>, Arc<Bell>, Waker)>,
    bell: (Arc<Bell>, Waker),
    random: Random,
    model: Model,
}

pub(crate) fn run(seed: u64) {
    let mut random = Random::new(seed);
    let living = Rc::new(RefCell::new(Vec::new()));
    let clock = Arc::new(ByHand::default());
    let capacity = 1 << random.below(4);
    let (ring, consumer) = Ring::builder(capacity)
        .timers(clock.clone())
        .start_sequence((1 << 62) - random.below(20))
        .build()
        .expect("a power of two");
    let mut run = Run {
        ring: &ring,
        living: living.clone(),
        consumer: Some(consumer),
        clock,
        claims: Vec::new(),
        pushes: Vec::new(),
        bell: bell(),
        random,
        model: Model::new(capacity),
    };
    for _ in 0..run.random.below(CALLS_MAX) {
        run.step();
        run.compare();
    }
    run.end();
    drop(ring);
    let left = living.borrow().iter().filter(|alive| **alive).count();
    assert_eq!(left, 0, "values that were never dropped");
}

impl<'a> Run<'a> {
    fn token(&self) -> Token {
        let mut living = self.living.borrow_mut();
        living.push(true);
        Token {
            id: living.len() as u64 - 1,
            living: self.living.clone(),
        }
    }

    fn step(&mut self) {
        match self.random.below(100) {
            0..20 => self.push(),
            20..30 => self.claim(),
            30..38 => self.end_claim(),
            38..52 => self.pop(),
            52..58 => self.fold(),
            58..70 => self.poll_ready(),
            70..72 => self.unpark(),
            72..80 => self.advance(),
            80..86 => self.start_wait(),
            86..95 => self.poll_wait(),
            95..97 => self.drop_wait(),
            97 => self.is_held_up(),
            _ if self.random.below(6) > 0 => self.push(),
            98 => self.close(),
            _ => self.drop_consumer(),
        }
    }

    fn push(&mut self) {
        let token = self.token();
        let id = token.id;
        match self.ring.push(token) {
            Ok(()) => {
                assert!(!self.model.is_closed);
                assert_eq!(self.model.place(Place::Value(id)), Some(()));
            }
            Err(PushError::Full(token)) => {
                assert!(!self.model.is_closed && token.id == id);
                assert_eq!(self.model.place(Place::Value(id)), None);
                self.model.refused += 1;
            }
            Err(error) => {
                assert!(matches!(&error, PushError::Closed(token) if token.id == id));
                assert!(self.model.is_closed);
            }
        }
    }

    fn claim(&mut self) {
        let id = self.model.pushed();
        match self.ring.claim() {
            Ok(claim) => {
                assert!(!self.model.is_closed);
                assert_eq!(self.model.place(Place::Claim(id)), Some(()));
                self.claims.push((id, claim));
            }
            Err(PushError::Full(())) => {
                assert!(!self.model.is_closed);
                assert_eq!(self.model.place(Place::Claim(id)), None);
                self.model.refused += 1;
            }
            Err(_) => assert!(self.model.is_closed),
        }
    }

    fn end_claim(&mut self) {
        if self.claims.is_empty() {
            return;
        }
        let index = self.random.below(self.claims.len() as u64) as usize;
        let (id, claim) = self.claims.remove(index);
        match self.random.below(4) {
            0 => std::mem::forget(claim),
            1 => {
                drop(claim);
                let ended = self.model.end_claim(id, Place::Empty);
                self.model.tombstones += u64::from(ended);
            }
            _ => {
                let token = self.token();
                let value = Place::Value(token.id);
                let published = claim.publish(token).is_ok();
                assert_eq!(published, self.model.end_claim(id, value));
            }
        }
    }

    /// Runs what the consumer does, and what it tells others afterwards.
    fn consume<R>(&mut self, act: impl FnOnce(&mut Self, &mut RingConsumer<Token>) -> R) {
        let Some(mut consumer) = self.consumer.take() else {
            return;
        };
        act(self, &mut consumer);
        self.consumer = Some(consumer);
    }

    /// What the consumer has passed, it tells once.
    fn serve_if_moved(&mut self, head: u64) {
        if self.model.head != head {
            self.model.serve();
        }
    }

    fn pop(&mut self) {
        self.consume(|run, consumer| {
            let head = run.model.head;
            let popped = consumer.pop().map(|token| token.id);
            assert_eq!(popped, run.model.pop());
            run.serve_if_moved(head);
        });
    }

    fn fold(&mut self) {
        let max = self.random.below(10) as usize;
        self.consume(|run, consumer| {
            let (head, skipped) = (run.model.head, run.model.skipped);
            let folded = consumer.fold(max, Vec::new(), |mut all, token| {
                all.push(token.id);
                all
            });
            let mut expected = Vec::new();
            while expected.len() < max {
                let Some(id) = run.model.pop() else { break };
                expected.push(id);
            }
            assert_eq!((folded.consumed, folded.acc), (expected.len(), expected));
            assert_eq!(folded.skipped, run.model.skipped - skipped);
            run.serve_if_moved(head);
        });
    }

    fn poll_ready(&mut self) {
        let waker = self.bell.1.clone();
        self.consume(|run, consumer| {
            let head = run.model.head;
            let look = run.model.look();
            run.serve_if_moved(head);
            let expected = match look {
                Look::Value => Poll::Ready(true),
                Look::Over => Poll::Ready(false),
                Look::Empty | Look::HeldUp { .. } => Poll::Pending,
            };
            run.model.alarm_ms = match look {
                Look::HeldUp { due_ms } => Some(due_ms),
                _ => None,
            };
            run.model.consumer.asleep = expected.is_pending();
            let rings = || run.bell.0.rings();
            let mut cx = Context::from_waker(&waker);
            let (polled, own) = settle(rings, || consumer.poll_ready(&mut cx));
            assert_eq!(polled, expected);
            run.model.consumer.rings += own;
        });
    }

    fn unpark(&mut self) {
        self.consume(|run, consumer| {
            consumer.unpark();
            run.model.consumer.asleep = false;
            run.model.alarm_ms = None;
        });
    }

    fn is_held_up(&mut self) {
        self.consume(|run, consumer| {
            let head = run.model.head;
            let held_up = matches!(run.model.look(), Look::HeldUp { .. });
            run.serve_if_moved(head);
            assert_eq!(consumer.is_held_up(), held_up);
        });
    }

    fn advance(&mut self) {
        let by_ms = self.random.below(60);
        self.clock.advance(Duration::from_millis(by_ms));
        self.model.now_ms += by_ms;
        if self
            .model
            .alarm_ms
            .is_some_and(|at| at <= self.model.now_ms)
        {
            self.model.alarm_ms = None;
            self.model.consumer.rings += 1;
        }
    }

    fn start_wait(&mut self) {
        if self.pushes.len() < WAITS_MAX {
            let token = self.token();
            self.model.waits.push(Wait {
                id: token.id,
                ..Wait::default()
            });
            let push = Box::pin(self.ring.push_wait(token, Duration::MAX));
            let (bell, waker) = bell();
            self.pushes.push((push, bell, waker));
        }
    }

    fn any_wait(&mut self) -> Option<usize> {
        let waits = self.pushes.len() as u64;
        (waits > 0).then(|| self.random.below(waits) as usize)
    }

    fn poll_wait(&mut self) {
        let Some(index) = self.any_wait() else { return };
        let is_closed = self.model.is_closed;
        let is_over = self.model.poll_wait(index);
        let (push, _, waker) = &mut self.pushes[index];
        match push.as_mut().poll(&mut Context::from_waker(waker)) {
            Poll::Pending => assert!(!is_over),
            Poll::Ready(Ok(())) => assert!(is_over && !is_closed),
            Poll::Ready(Err(error)) => {
                assert!(is_over && is_closed && matches!(error, PushError::Closed(_)));
            }
        }
        if is_over {
            self.remove_wait(index);
        }
    }

    fn drop_wait(&mut self) {
        let Some(index) = self.any_wait() else { return };
        self.model.leave(index);
        self.remove_wait(index);
    }

    /// Its rings are compared a last time.
    fn remove_wait(&mut self, index: usize) {
        let (push, bell, _) = self.pushes.remove(index);
        drop(push);
        let wait = self.model.waits.remove(index);
        assert_eq!(bell.rings(), wait.sleeper.rings);
    }

    fn close(&mut self) {
        self.ring.close();
        self.model.is_closed = true;
        self.model.consumer.ring();
        self.model.serve();
    }

    /// What is claimed then comes late; what is inside is dropped.
    fn drop_consumer(&mut self) {
        self.model.consumer.asleep = false;
        self.consumer = None;
        self.model.alarm_ms = None;
        self.model.is_closed = true;
        while let Some(place) = self.model.places.pop_front() {
            self.model.head += 1;
            match place {
                Place::Value(_) => self.model.popped += 1,
                Place::Claim(_) => {
                    self.model.stepped_over += 1;
                    self.model.skipped += 1;
                }
                Place::Empty => self.model.skipped += 1,
            }
        }
        self.model.serve();
    }

    fn compare(&self) {
        let (ring, model) = (self.ring, &self.model);
        assert_eq!(ring.pushed(), model.pushed());
        assert_eq!(ring.popped(), model.popped);
        assert_eq!(ring.skipped(), model.skipped);
        assert_eq!(ring.refused(), model.refused);
        assert_eq!(ring.tombstones(), model.tombstones);
        assert_eq!(ring.stepped_over(), model.stepped_over);
        assert_eq!((ring.reclaimed(), ring.is_closed()), (0, model.is_closed));
        assert_eq!(ring.occupancy(), model.places.len());
        assert!(ring.peak() >= ring.occupancy() && ring.peak() <= model.capacity);
        assert_eq!(self.bell.0.rings(), model.consumer.rings);
        assert_eq!(self.clock.armed(), usize::from(model.alarm_ms.is_some()));
        assert_eq!(self.clock.now_ns(), model.now_ms * 1_000_000);
        for ((_, bell, _), wait) in self.pushes.iter().zip(&model.waits) {
            assert_eq!(bell.rings(), wait.sleeper.rings);
        }
        if let Some(consumer) = &self.consumer {
            let over = model.is_closed && model.places.is_empty();
            assert_eq!(consumer.is_finished(), over);
        }
    }

    /// Everybody leaves, in any order.
    fn end(mut self) {
        while let Some(index) = self.any_wait() {
            self.drop_wait();
            assert!(index <= self.pushes.len());
        }
        if self.random.below(2) == 0 {
            self.drop_consumer();
        }
        while !self.claims.is_empty() {
            self.end_claim();
        }
        self.compare();
    }
}
