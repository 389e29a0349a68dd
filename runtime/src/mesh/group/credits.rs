//! What one shard has in flight in each group, a target each.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::task::{Poll, Waker};

use super::order::Rank;
use crate::shard::{Context, ShardIndex};

/// The credits that this shard has taken, and the rank of the task that it polls.
#[derive(Default)]
pub(crate) struct Groups {
    pub(super) rank: Cell<Rank>,
    /// The ways with a call in flight: others have nothing to remember.
    ways: RefCell<BTreeMap<(Rank, ShardIndex), Rc<Way>>>,
}

/// One group's calls from this shard to one target.
pub(super) struct Way {
    group: Rank,
    to: ShardIndex,
    limit: usize,
    taken: Cell<usize>,
    /// Who waits, in order. While anybody does, all credits are taken.
    waiting: RefCell<VecDeque<Rc<Waiter>>>,
}

/// Somebody who waits for a credit.
#[derive(Default)]
pub(super) struct Waiter {
    granted: Cell<bool>,
    waker: Cell<Option<Waker>>,
}

/// The right to have one call in flight.
pub(super) struct Credit(Rc<Way>);

impl Groups {
    #[cfg(debug_assertions)]
    pub(crate) fn rank(&self) -> Rank {
        self.rank.get()
    }

    /// The way of a group to a target; remembered from its first credit to its last.
    pub(super) fn way(&self, group: Rank, to: ShardIndex, limit: usize) -> Rc<Way> {
        let new = || {
            Rc::new(Way {
                group,
                to,
                limit,
                taken: Cell::new(0),
                waiting: RefCell::default(),
            })
        };
        Rc::clone(
            self.ways
                .borrow_mut()
                .entry((group, to))
                .or_insert_with(new),
        )
    }

    /// Calls in flight of a group to a target.
    pub(super) fn in_flight(&self, group: Rank, to: ShardIndex) -> usize {
        let ways = self.ways.borrow();
        ways.get(&(group, to)).map_or(0, |way| way.taken.get())
    }
}

impl Way {
    /// Takes a credit if there is one.
    pub(super) fn take(self: &Rc<Self>) -> Option<Credit> {
        if self.taken.get() == self.limit {
            return None;
        }
        self.taken.set(self.taken.get() + 1);
        Some(Credit(Rc::clone(self)))
    }

    /// Takes a place in the queue, behind those that wait already.
    pub(super) fn wait(&self) -> Rc<Waiter> {
        let waiter = Rc::<Waiter>::default();
        self.waiting.borrow_mut().push_back(Rc::clone(&waiter));
        waiter
    }

    /// The credit that `waiter` was given, once it was; its task is woken for it.
    pub(super) fn poll_granted(self: &Rc<Self>, waiter: &Waiter, waker: &Waker) -> Poll<Credit> {
        if let Some(credit) = self.granted(waiter) {
            return Poll::Ready(credit);
        }
        // A waker of a task holds nothing, and neither its clone nor its drop does anything.
        waiter.waker.set(Some(waker.clone()));
        Poll::Pending
    }

    fn granted(self: &Rc<Self>, waiter: &Waiter) -> Option<Credit> {
        waiter.granted.take().then(|| Credit(Rc::clone(self)))
    }

    /// `waiter` gives up. A credit that it was given goes on to the next.
    pub(super) fn give_up(self: &Rc<Self>, waiter: &Rc<Waiter>) {
        if let Some(credit) = self.granted(waiter) {
            return drop(credit);
        }
        self.waiting
            .borrow_mut()
            .retain(|known| !Rc::ptr_eq(known, waiter));
    }
}

impl Drop for Credit {
    /// Gives the credit to who has waited longest, or back.
    fn drop(&mut self) {
        let way = &self.0;
        let next = way.waiting.borrow_mut().pop_front();
        if let Some(next) = next {
            next.granted.set(true);
            if let Some(waker) = next.waker.take() {
                waker.wake();
            }
            return;
        }
        way.taken.set(way.taken.get() - 1);
        if way.taken.get() == 0 {
            Context::try_with(|context| {
                let mut ways = context.groups().ways.borrow_mut();
                // A credit that outlives its shard finds another one's, or none.
                if ways
                    .get(&(way.group, way.to))
                    .is_some_and(|known| Rc::ptr_eq(known, way))
                {
                    ways.remove(&(way.group, way.to));
                }
            });
        }
    }
}
