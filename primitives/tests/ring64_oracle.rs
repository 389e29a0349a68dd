//! Any sequence of calls on a `Ring64` answers as a bounded `VecDeque` with holes does.
//!
//! `PROPTEST_CASES` sets how many sequences are tried; the default is a million calls in all.
#![cfg(not(corelane_loom))]

#[path = "support/oracle.rs"]
mod oracle;
#[path = "support/settle.rs"]
mod settle;

use corelane_primitives::{ClaimError, Consumer64, PushError, Ring64};
use proptest::collection::vec;
use proptest::prelude::*;
use settle::settle;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

const CALLS_MAX: usize = 500;

#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// What stands at one position.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Value(u64),
    Hole,
}

/// The oracle: a queue of places, and what was counted.
#[derive(Default)]
struct Model {
    inside: VecDeque<Place>,
    pushed: u64,
    popped: u64,
    skipped: u64,
    refused: u64,
    asleep: bool,
    rings: usize,
    closed: bool,
}

impl Model {
    fn add(&mut self, place: Place) {
        self.inside.push_back(place);
        self.pushed += 1;
    }

    /// Something was published: a sleeper is rung, once.
    fn ring(&mut self) {
        self.rings += usize::from(std::mem::take(&mut self.asleep));
    }

    fn pass_holes(&mut self) -> u64 {
        let mut passed = 0;
        while self.inside.front() == Some(&Place::Hole) {
            self.inside.pop_front();
            passed += 1;
        }
        self.skipped += passed;
        passed
    }

    /// Up to `max` values, and how many holes were passed before and between them.
    fn take(&mut self, max: usize) -> (Vec<u64>, u64) {
        let (mut values, mut skipped) = (Vec::new(), 0);
        while values.len() < max {
            skipped += self.pass_holes();
            let Some(Place::Value(value)) = self.inside.pop_front() else {
                break;
            };
            values.push(value);
        }
        self.popped += values.len() as u64;
        (values, skipped)
    }
}

struct Run {
    ring: Option<Ring64>,
    counts: Ring64,
    consumer: Consumer64,
    model: Model,
    capacity: usize,
    next: u64,
    bell: Arc<Bell>,
}

impl Run {
    fn new(capacity: usize, start: u64) -> Self {
        let (ring, consumer) = Ring64::with_start_sequence(capacity, start);
        Self {
            counts: ring.clone(),
            ring: Some(ring),
            consumer,
            model: Model::default(),
            capacity,
            next: u64::MAX - 3,
            bell: Arc::default(),
        }
    }

    fn value(&mut self) -> u64 {
        self.next = self.next.wrapping_add(1);
        self.next
    }

    fn room(&self) -> usize {
        self.capacity - self.model.inside.len()
    }

    fn step(&mut self, bits: u32) {
        let [kind, a, b, c] = bits.to_le_bytes();
        let (few, fewer) = (usize::from(a % 9), usize::from(b % 5));
        match kind {
            0..70 => self.push(),
            70..110 => self.push_batch(few),
            110..135 => self.claim(few, fewer),
            135..175 => self.pop(),
            175..200 => self.fold(few),
            200..240 => self.poll_ready(),
            240..252 => {
                self.consumer.unpark();
                self.model.asleep = false;
            }
            252..255 => self.push_wait(),
            255 if c < 32 => self.close(),
            255 => self.push(),
        }
        self.compare();
    }

    fn push(&mut self) {
        let value = self.value();
        let pushed = self.counts.push(value);
        if self.model.closed {
            assert_eq!(pushed, Err(PushError::Closed(value)));
        } else if self.room() == 0 {
            assert_eq!(pushed, Err(PushError::Full(value)));
            self.model.refused += 1;
        } else {
            assert_eq!(pushed, Ok(()));
            self.model.add(Place::Value(value));
            self.model.ring();
        }
    }

    /// A wait that is polled once and dropped: pushed at once, or nothing.
    fn push_wait(&mut self) {
        let value = self.value();
        let polled = {
            let push = std::pin::pin!(self.counts.push_wait(value, Duration::MAX));
            push.poll(&mut Context::from_waker(Waker::noop()))
        };
        if self.model.closed {
            assert_eq!(polled, Poll::Ready(Err(PushError::Closed(value))));
        } else if self.room() == 0 {
            assert_eq!(polled, Poll::Pending);
        } else {
            assert_eq!(polled, Poll::Ready(Ok(())));
            self.model.add(Place::Value(value));
            self.model.ring();
        }
    }

    fn push_batch(&mut self, offered: usize) {
        let values = (0..offered).map(|_| self.value()).collect::<Vec<_>>();
        let pushed = self.counts.push_batch(&values);
        if offered == 0 {
            assert_eq!(pushed, Ok(0));
            return;
        }
        if self.model.closed {
            assert_eq!(pushed, Err(PushError::Closed(())));
            return;
        }
        let taken = offered.min(self.room());
        self.model.refused += (offered - taken) as u64;
        if taken == 0 {
            assert_eq!(pushed, Err(PushError::Full(())));
            return;
        }
        assert_eq!(pushed, Ok(taken));
        let places = values[..taken].iter().map(|value| Place::Value(*value));
        places.for_each(|place| self.model.add(place));
        self.model.ring();
    }

    fn claim(&mut self, slots: usize, filled: usize) {
        if !(1..=self.capacity).contains(&slots) {
            return;
        }
        let (room, closed) = (self.room(), self.model.closed);
        let values = [(); 4].map(|()| self.value());
        let ring = self.counts.clone();
        let claimed = ring.claim(slots);
        if closed {
            assert_eq!(claimed.err(), Some(PushError::Closed(())));
            return;
        }
        if room < slots {
            assert_eq!(claimed.err(), Some(PushError::Full(())));
            self.model.refused += slots as u64;
            return;
        }
        let mut claim = claimed.expect("there is room");
        for (index, value) in values.into_iter().take(filled).enumerate() {
            if index < slots {
                assert_eq!(claim.push(value), Ok(()));
                self.model.add(Place::Value(value));
            } else {
                assert_eq!(claim.push(value), Err(ClaimError::Filled(value)));
            }
        }
        assert_eq!(claim.slots(), slots - filled.min(slots));
        drop(claim);
        (filled.min(slots)..slots).for_each(|_| self.model.add(Place::Hole));
        self.model.ring();
    }

    fn pop(&mut self) {
        let popped = self.consumer.pop();
        assert_eq!(popped, self.model.take(1).0.first().copied());
    }

    fn fold(&mut self, max: usize) {
        let folded = self.consumer.fold(max, Vec::new(), |mut all, value| {
            all.push(value);
            all
        });
        let (values, skipped) = self.model.take(max);
        assert_eq!(folded.consumed, values.len());
        assert_eq!((folded.acc, folded.skipped), (values, skipped));
    }

    fn poll_ready(&mut self) {
        let waker = Waker::from(Arc::clone(&self.bell));
        let mut cx = Context::from_waker(&waker);
        let rings = || self.bell.0.load(Ordering::Relaxed);
        let (polled, own) = settle(rings, || self.consumer.poll_ready(&mut cx));
        self.model.rings += own;
        let holes = self
            .model
            .inside
            .iter()
            .take_while(|place| **place == Place::Hole);
        let is_there = holes.count() < self.model.inside.len();
        if is_there {
            assert_eq!(polled, Poll::Ready(true));
            self.model.asleep = false;
            return;
        }
        self.model.pass_holes();
        if self.model.closed {
            assert_eq!(polled, Poll::Ready(false));
            self.model.asleep = false;
        } else {
            assert_eq!(polled, Poll::Pending);
            self.model.asleep = true;
        }
    }

    fn close(&mut self) {
        if let Some(ring) = self.ring.take() {
            ring.close();
            self.model.closed = true;
            self.model.ring();
        }
    }

    /// Every count, and that nobody was woken more or less than the model says.
    fn compare(&self) {
        let (model, ring) = (&self.model, &self.counts);
        assert_eq!(ring.pushed(), model.pushed);
        assert_eq!(ring.refused(), model.refused);
        assert_eq!(ring.is_closed(), model.closed);
        assert_eq!(self.bell.0.load(Ordering::Relaxed), model.rings);
        assert_eq!(
            ring.pushed() - ring.popped() - ring.skipped(),
            ring.occupancy() as u64
        );
        assert_eq!(ring.popped(), model.popped);
        assert!(ring.occupancy() <= self.capacity && ring.occupancy() <= ring.peak());
    }

    fn end(mut self) {
        self.fold(usize::MAX);
        self.compare();
        assert_eq!((self.counts.occupancy(), self.model.inside.len()), (0, 0));
        assert_eq!(self.counts.skipped(), self.model.skipped);
    }
}

proptest! {
    #![proptest_config(oracle::sequences(4_000))]

    // proves: F-6
    // proves: F-9
    // proves: F-12
    #[test]
    fn ring64_answers_as_its_oracle(
        capacity_log2 in 0..5_u32,
        before_wrap in 0..64_u64,
        calls in vec(any::<u32>(), 0..CALLS_MAX),
    ) {
        let mut run = Run::new(1 << capacity_log2, (1_u64 << 61) - before_wrap);
        for &bits in &calls {
            run.step(bits);
        }
        run.end();
    }
}
