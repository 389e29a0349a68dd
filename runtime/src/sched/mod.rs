//! Run queues: ready tasks by scheduling group.
//!
//! Owner: the shard's thread. The group that has used the least of its share runs next, for a slice
//! of polls; the slice's time, read once at its end, is charged to the group. There is one group
//! until groups can be made; the queues belong to groups all the same, so that adding them changes
//! no call.

use std::cell::{Cell, RefCell};

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

#[derive(Debug)]
struct Group {
    queue: TaskQueue,
    shares: u64,
    /// Time used, in nanoseconds for 100 shares.
    spent: u64,
}

/// The ready tasks of one shard.
#[derive(Debug)]
pub(crate) struct Scheduler {
    groups: RefCell<Vec<Group>>,
    ready: Cell<usize>,
    /// What the group that ran last has spent: a group that was idle starts from here.
    floor: Cell<u64>,
}

impl Scheduler {
    pub(crate) fn new() -> Self {
        let scheduler = Self {
            groups: RefCell::new(Vec::new()),
            ready: Cell::new(0),
            floor: Cell::new(0),
        };
        scheduler.add(SHARES_DEFAULT);
        scheduler
    }

    /// Adds a group.
    fn add(&self, shares: u64) -> GroupId {
        let mut groups = self.groups.borrow_mut();
        let id = u16::try_from(groups.len()).expect("groups are few");
        groups.push(Group {
            queue: TaskQueue::default(),
            shares,
            spent: self.floor.get(),
        });
        GroupId(id)
    }

    /// Puts a task at the end of its group's queue.
    #[inline]
    pub(crate) fn push(&self, group: GroupId, task: TaskRef) {
        let mut groups = self.groups.borrow_mut();
        let group = &mut groups[usize::from(group.0)];
        if group.queue.is_empty() {
            group.spent = group.spent.max(self.floor.get());
        }
        group.queue.push(task);
        self.ready.set(self.ready.get() + 1);
    }

    /// The group whose slice is next.
    #[inline]
    pub(crate) fn next_group(&self) -> Option<GroupId> {
        if self.ready.get() == 0 {
            return None;
        }
        let groups = self.groups.borrow();
        let ready = groups
            .iter()
            .enumerate()
            .filter(|(_, group)| !group.queue.is_empty());
        let (number, group) = ready.min_by_key(|(_, group)| group.spent)?;
        self.floor.set(group.spent);
        Some(GroupId(number as u16))
    }

    /// Takes the next task of `group`.
    #[inline]
    pub(crate) fn pop(&self, group: GroupId) -> Option<TaskRef> {
        let task = self.groups.borrow()[usize::from(group.0)].queue.pop()?;
        self.ready.set(self.ready.get() - 1);
        Some(task)
    }

    /// Charges a slice's time to its group.
    pub(crate) fn charge(&self, group: GroupId, slice_ns: u64) {
        let mut groups = self.groups.borrow_mut();
        let group = &mut groups[usize::from(group.0)];
        group.spent += slice_ns * SHARES_DEFAULT / group.shares;
    }

    /// Tasks that are ready.
    #[inline]
    pub(crate) fn ready(&self) -> usize {
        self.ready.get()
    }
}
