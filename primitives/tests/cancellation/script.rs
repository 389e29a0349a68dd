//! How a future is polled and dropped, and who waits beside it.

use crate::bell::{Bell, bell};
use std::cell::Cell;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// What happens while the future is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Nothing,
    /// A value comes.
    Put,
    /// A value is taken.
    Take,
    Close,
    /// Somebody at the other end goes.
    Leave,
}

/// Polls before the event, and after it; then the future is dropped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Script {
    pub(crate) before: usize,
    pub(crate) event: Event,
    pub(crate) after: usize,
}

impl Script {
    /// In every state: never polled, waiting, woken and not polled again, woken and polled.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let events = [
            Event::Nothing,
            Event::Put,
            Event::Take,
            Event::Close,
            Event::Leave,
        ];
        let polled = (0..2).flat_map(move |before| {
            events.into_iter().flat_map(move |event| {
                (0..2).map(move |after| Self {
                    before,
                    event,
                    after,
                })
            })
        });
        let polled_twice = Self {
            before: 2,
            event: Event::Nothing,
            after: 0,
        };
        polled.chain([polled_twice])
    }

    /// Polls `future` as the script says, and drops it; what it answered, if it did.
    pub(crate) fn run<F: Future>(self, future: F, event: impl FnOnce(Event)) -> Option<F::Output> {
        let mut future = pin!(future);
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..self.before {
            if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
                return Some(output);
            }
        }
        event(self.event);
        for _ in 0..self.after {
            if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
                return Some(output);
            }
        }
        None
    }
}

/// How a world stands when the future is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    /// Values that were offered before.
    pub(crate) inside: u64,
    pub(crate) is_closed: bool,
    /// Whether the other end is at another shard.
    pub(crate) is_across: bool,
}

impl Setup {
    /// From empty to one more than the capacity, open and closed, on one shard and across two.
    pub(crate) fn all(capacity: u64) -> impl Iterator<Item = Self> {
        (0..=capacity + 1).flat_map(|inside| {
            [false, true].into_iter().flat_map(move |is_closed| {
                [false, true].into_iter().map(move |is_across| Self {
                    inside,
                    is_closed,
                    is_across,
                })
            })
        })
    }
}

/// What was offered, and what became of it.
#[derive(Clone, Default)]
pub(crate) struct Tally(Rc<[Cell<u64>; 3]>);

impl Tally {
    /// A number that is offered now.
    pub(crate) fn offer(&self) -> u64 {
        self.0[0].set(self.0[0].get() + 1);
        self.0[0].get()
    }

    pub(crate) fn accept(&self, count: u64) {
        self.0[1].set(self.0[1].get() + count);
    }

    /// Refused, or dropped with its future.
    pub(crate) fn refuse(&self, count: u64) {
        self.0[2].set(self.0[2].get() + count);
    }

    /// One that was accepted or not.
    pub(crate) fn count(&self, is_accepted: bool) -> bool {
        match is_accepted {
            true => self.accept(1),
            false => self.refuse(1),
        }
        is_accepted
    }

    pub(crate) fn accepted(&self) -> u64 {
        self.0[1].get()
    }

    pub(crate) fn check(&self) {
        let [offered, accepted, refused] = self.0.each_ref().map(Cell::get);
        assert_eq!(accepted + refused, offered);
    }
}

pub(crate) type Task = Pin<Box<dyn Future<Output = ()>>>;

/// Tasks that wait beside the future, and are polled only when they were woken.
#[derive(Default)]
pub(crate) struct Company(Vec<(Task, Arc<Bell>, Waker, usize)>);

impl Company {
    /// Polls `task` once, and keeps it if it waits.
    pub(crate) fn add(&mut self, mut task: Task) {
        let (bell, waker) = bell();
        if task
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
        {
            self.0.push((task, bell, waker, 0));
        }
    }

    /// Runs until nobody is woken; whether anybody was.
    pub(crate) fn run(&mut self) -> bool {
        let mut any = false;
        loop {
            let woken = |(_, bell, _, seen): &(Task, Arc<Bell>, Waker, usize)| bell.rings() > *seen;
            let Some(at) = self.0.iter().position(woken) else {
                return any;
            };
            any = true;
            let (task, bell, waker, seen) = &mut self.0[at];
            *seen = bell.rings();
            if task
                .as_mut()
                .poll(&mut Context::from_waker(waker))
                .is_ready()
            {
                drop(self.0.remove(at));
            }
        }
    }

    /// The first one goes.
    pub(crate) fn leave(&mut self) {
        if !self.0.is_empty() {
            drop(self.0.remove(0));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
