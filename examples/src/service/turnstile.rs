//! One value that several tasks of a shard use in turn, each for as long as it has to wait inside.

use std::cell::{RefCell, RefMut};
use std::collections::VecDeque;
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// A value for one task at a time, first come, first served. Not for two threads.
#[derive(Debug)]
pub(super) struct Turnstile<T> {
    value: RefCell<T>,
    queue: RefCell<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    /// Whose turn it is.
    turn: Option<u64>,
    last: u64,
    waiting: VecDeque<(u64, Waker)>,
}

impl<T> Turnstile<T> {
    pub(super) fn new(value: T) -> Self {
        Self {
            value: RefCell::new(value),
            queue: RefCell::default(),
        }
    }

    /// Waits for the turn, which ends when what this gives is dropped.
    ///
    /// # Cancel safety
    ///
    /// A future that is dropped gives its place away.
    pub(super) fn enter(&self) -> Enter<'_, T> {
        Enter {
            turnstile: self,
            ticket: None,
        }
    }

    /// Ends the turn of `ticket`, or its place in the queue.
    fn leave(&self, ticket: u64) {
        let mut queue = self.queue.borrow_mut();
        queue.waiting.retain(|(waiting, _)| *waiting != ticket);
        if queue.turn != Some(ticket) {
            return;
        }
        let next = queue.waiting.pop_front();
        queue.turn = next.as_ref().map(|(ticket, _)| *ticket);
        drop(queue);
        if let Some((_, waker)) = next {
            waker.wake();
        }
    }
}

/// Waits for a turn.
#[derive(Debug)]
pub(super) struct Enter<'a, T> {
    turnstile: &'a Turnstile<T>,
    ticket: Option<u64>,
}

impl<'a, T> Future for Enter<'a, T> {
    type Output = Turn<'a, T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Turn<'a, T>> {
        let turnstile = self.turnstile;
        let mut queue = turnstile.queue.borrow_mut();
        let ticket = *self.ticket.get_or_insert_with(|| {
            queue.last += 1;
            queue.last
        });
        if *queue.turn.get_or_insert(ticket) == ticket {
            // From here on the turn is what leaves.
            self.ticket = None;
            return Poll::Ready(Turn {
                value: turnstile.value.borrow_mut(),
                _leave: Leave(turnstile, ticket),
            });
        }
        match queue.waiting.iter_mut().find(|(other, _)| *other == ticket) {
            Some((_, waker)) => waker.clone_from(cx.waker()),
            None => queue.waiting.push_back((ticket, cx.waker().clone())),
        }
        Poll::Pending
    }
}

impl<T> Drop for Enter<'_, T> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.turnstile.leave(ticket);
        }
    }
}

/// The value, for one turn.
#[derive(Debug)]
pub(super) struct Turn<'a, T> {
    // Dropped before the next one is let in.
    value: RefMut<'a, T>,
    _leave: Leave<'a, T>,
}

#[derive(Debug)]
struct Leave<'a, T>(&'a Turnstile<T>, u64);

impl<T> Drop for Leave<'_, T> {
    fn drop(&mut self) {
        self.0.leave(self.1);
    }
}

impl<T> Deref for Turn<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Turn<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;

    fn poll<'a, T>(enter: Pin<&mut Enter<'a, T>>) -> Option<Turn<'a, T>> {
        match enter.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(turn) => Some(turn),
            Poll::Pending => None,
        }
    }

    #[test]
    fn turns_go_in_the_order_of_the_first_polls() {
        let turnstile = Turnstile::new(0);
        let (mut first, mut second) = (pin!(turnstile.enter()), pin!(turnstile.enter()));
        let mut third = pin!(turnstile.enter());
        let turn = poll(first.as_mut()).unwrap();
        // A second poll keeps the place.
        assert!(poll(third.as_mut()).is_none() && poll(second.as_mut()).is_none());
        assert!(poll(third.as_mut()).is_none());
        drop(turn);
        assert!(poll(second.as_mut()).is_none());
        *poll(third.as_mut()).unwrap() += 1;
        assert_eq!(*poll(second.as_mut()).unwrap(), 1);
    }

    #[test]
    fn who_gives_up_lets_the_next_one_in() {
        let turnstile = Turnstile::new(());
        let turn = poll(pin!(turnstile.enter()));
        let mut kept = pin!(turnstile.enter());
        {
            let mut given_up = pin!(turnstile.enter());
            assert!(poll(given_up.as_mut()).is_none());
            assert!(poll(kept.as_mut()).is_none());
            drop(turn);
            // Its turn has come, and it goes without taking it.
        }
        assert!(poll(kept.as_mut()).is_some());
    }
}
