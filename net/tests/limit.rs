//! Permits: never more than there are, in order, and none lost with a future that is given up.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use std::collections::VecDeque;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use corelane_net::{Limit, Permit};

/// Counts its wakes.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

type Acquiring = Pin<Box<dyn Future<Output = Permit>>>;

/// One task that waits for a permit.
struct Waiting {
    acquiring: Acquiring,
    woken: Arc<Woken>,
}

impl Waiting {
    fn new(limit: &Limit) -> Self {
        Self {
            acquiring: Box::pin(limit.acquire()),
            woken: Arc::default(),
        }
    }

    fn poll(&mut self) -> Poll<Permit> {
        let waker = Waker::from(Arc::clone(&self.woken));
        self.acquiring
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
    }

    fn wakes(&self) -> usize {
        self.woken.0.load(Ordering::Relaxed)
    }
}

#[test]
fn permits_are_given_in_the_order_of_the_first_polls() {
    let limit = Limit::new(1);
    let permit = limit.try_acquire().unwrap();
    let mut waiting: Vec<_> = (0..3).map(|_| Waiting::new(&limit)).collect();
    for task in waiting.iter_mut().rev() {
        assert!(task.poll().is_pending());
    }
    let mut held = permit;
    while let Some(mut first) = waiting.pop() {
        drop(held);
        assert_eq!(limit.available(), 0, "it is the waiter's");
        assert_eq!(first.wakes(), 1);
        assert!(waiting.iter().all(|other| other.wakes() == 0));
        let Poll::Ready(permit) = first.poll() else {
            panic!("the permit was given");
        };
        held = permit;
    }
    drop(held);
    assert_eq!((limit.available(), limit.max()), (1, 1));
}

#[test]
fn a_limit_of_none_gives_none() {
    let limit = Limit::new(0);
    assert!(limit.try_acquire().is_none());
    let acquiring = pin!(limit.acquire());
    let mut cx = Context::from_waker(Waker::noop());
    assert!(acquiring.poll(&mut cx).is_pending());
}

/// A small generator of numbers (xorshift64), so that the steps replay.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// Random takes, waits, returns and give-ups, against a queue that says who is next.
fn agrees_with_the_model(seed: u64) {
    let mut random = Random(seed * 2 + 1);
    let max = 1 + random.below(4);
    let limit = Limit::new(max);
    let mut held = Vec::new();
    let mut waiting: VecDeque<Waiting> = VecDeque::new();
    for _ in 0..2_000 {
        match random.below(5) {
            0 => match limit.try_acquire() {
                Some(permit) => held.push(permit),
                None => assert_eq!(limit.available(), 0),
            },
            1 => {
                let mut task = Waiting::new(&limit);
                match task.poll() {
                    Poll::Ready(permit) => held.push(permit),
                    Poll::Pending => waiting.push_back(task),
                }
            }
            2 if !held.is_empty() => drop(held.swap_remove(random.below(held.len()))),
            3 if !waiting.is_empty() => drop(waiting.remove(random.below(waiting.len()))),
            _ => {
                // Those who were given a permit stand before all who were not.
                let granted = waiting.iter().take_while(|task| task.wakes() > 0).count();
                assert!(waiting.iter().skip(granted).all(|task| task.wakes() == 0));
                let taken = waiting.drain(..granted).map(|mut task| task.poll());
                for poll in taken {
                    let Poll::Ready(permit) = poll else {
                        panic!("a woken task finds its permit");
                    };
                    held.push(permit);
                }
            }
        }
        let granted = waiting.iter().filter(|task| task.wakes() > 0).count();
        assert_eq!(limit.available() + held.len() + granted, max, "seed {seed}");
        let idle = limit.available() > 0 && granted < waiting.len();
        assert!(!idle, "seed {seed}: a permit lies idle while a task waits");
    }
}

#[test]
fn permits_agree_with_a_model_of_their_queue() {
    for seed in 0..50 {
        agrees_with_the_model(seed);
    }
}

/// Panics when it wakes.
struct Bomb;

impl Wake for Bomb {
    fn wake(self: Arc<Self>) {
        panic!("a waker that panics");
    }
}

#[test]
fn permit_that_meets_a_waker_that_panics_is_given_all_the_same() {
    let limit = Limit::new(1);
    let permit = limit.try_acquire().unwrap();
    let mut broken = pin!(limit.acquire());
    let bomb = Waker::from(Arc::new(Bomb));
    let polled = broken.as_mut().poll(&mut Context::from_waker(&bomb));
    assert!(polled.is_pending());
    let mut behind = Waiting::new(&limit);
    assert!(behind.poll().is_pending());
    drop(permit);
    let polled = broken.as_mut().poll(&mut Context::from_waker(&bomb));
    let Poll::Ready(permit) = polled else {
        panic!("the permit was given");
    };
    drop(permit);
    assert_eq!(behind.wakes(), 1);
    assert!(behind.poll().is_ready());
}
