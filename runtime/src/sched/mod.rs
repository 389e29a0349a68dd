//! Run queues: ready tasks by scheduling group.
//!
//! Owner: the shard's thread. The group that has used the least of its share runs next, for a slice
//! of polls; the slice's time, read once at its end, is charged to the group. There is one group
//! until groups can be made; the queues belong to groups all the same, so that adding them changes
//! no call.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::task::{TaskQueue, TaskRef};

/// A scheduling group of a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct GroupId(u16);

impl GroupId {
    /// The group that every shard has.
    pub(crate) const DEFAULT: Self = Self(0);
}

/// Shares of the default group.
const SHARES_DEFAULT: u64 = 100;

/// The ready tasks of one group, and what it has used.
#[derive(Debug)]
pub(crate) struct Group {
    queue: TaskQueue,
    shares: u64,
    /// Time used, in nanoseconds for 100 shares.
    spent: Cell<u64>,
}

impl Group {
    fn new(shares: u64, spent: u64) -> Rc<Self> {
        Rc::new(Self {
            queue: TaskQueue::default(),
            shares,
            spent: Cell::new(spent),
        })
    }

    /// Takes the next task.
    #[inline]
    pub(crate) fn pop(&self) -> Option<TaskRef> {
        self.queue.pop()
    }

    /// Charges a slice's time.
    pub(crate) fn charge(&self, slice_ns: u64) {
        self.spent
            .set(self.spent.get() + slice_ns * SHARES_DEFAULT / self.shares);
    }
}

/// The ready tasks of one shard.
#[derive(Debug)]
pub(crate) struct Scheduler {
    /// Apart from the others, since nearly every push and pop is its (bench row `yield`).
    default: Rc<Group>,
    others: RefCell<Vec<Rc<Group>>>,
    /// What the group that ran last has spent: a group that was idle starts from here.
    floor: Cell<u64>,
}

impl Scheduler {
    pub(crate) fn new() -> Self {
        Self {
            default: Group::new(SHARES_DEFAULT, 0),
            others: RefCell::default(),
            floor: Cell::new(0),
        }
    }

    /// Puts a task at the end of its group's queue.
    #[inline]
    pub(crate) fn push(&self, id: GroupId, task: TaskRef) {
        if id == GroupId::DEFAULT {
            self.push_to(&self.default, task);
        } else {
            self.push_to(&self.others.borrow()[usize::from(id.0) - 1], task);
        }
    }

    #[inline]
    fn push_to(&self, group: &Group, task: TaskRef) {
        if group.queue.push(task) && group.spent.get() < self.floor.get() {
            group.spent.set(self.floor.get());
        }
    }

    /// The group whose slice is next, with its id.
    #[inline]
    pub(crate) fn next_group(&self) -> Option<Rc<Group>> {
        let others = self.others.borrow();
        let ready = others
            .iter()
            .chain([&self.default])
            .filter(|group| !group.queue.is_empty());
        let next = Rc::clone(ready.min_by_key(|group| group.spent.get())?);
        self.floor.set(next.spent.get());
        Some(next)
    }

    /// Whether no task is ready.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.default.queue.is_empty()
            && self
                .others
                .borrow()
                .iter()
                .all(|group| group.queue.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Scheduler {
        fn add(&self, shares: u64) -> Rc<Group> {
            let group = Group::new(shares, self.floor.get());
            self.others.borrow_mut().push(Rc::clone(&group));
            group
        }
    }

    #[test]
    fn nothing_ready_gives_no_group() {
        let scheduler = Scheduler::new();
        scheduler.add(300);
        assert!(scheduler.is_empty());
        assert!(scheduler.next_group().is_none());
    }

    #[test]
    fn charge_follows_shares() {
        let scheduler = Scheduler::new();
        let large = scheduler.add(300);
        scheduler.default.charge(300);
        large.charge(300);
        assert_eq!(
            (scheduler.default.spent.get(), large.spent.get()),
            (300, 100)
        );
    }
}
