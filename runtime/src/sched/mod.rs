//! Run queues: ready tasks by scheduling group.
//!
//! Owner: the shard's thread. The group that has used the least of its share runs next, for a slice
//! of polls; the slice's time, read once at its end, is charged to the group. There is one group
//! until groups can be made; the queues belong to groups all the same, so that adding them changes
//! no call.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use crate::task::token::Slot;

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
    queue: VecDeque<Slot>,
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
            queue: VecDeque::new(),
            shares,
            spent: self.floor.get(),
        });
        GroupId(id)
    }

    /// Puts a task at the end of its group's queue.
    #[inline]
    pub(crate) fn push(&self, group: GroupId, slot: Slot) {
        let mut groups = self.groups.borrow_mut();
        let group = &mut groups[usize::from(group.0)];
        if group.queue.is_empty() {
            group.spent = group.spent.max(self.floor.get());
        }
        group.queue.push_back(slot);
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
    pub(crate) fn pop(&self, group: GroupId) -> Option<Slot> {
        let slot = self.groups.borrow_mut()[usize::from(group.0)]
            .queue
            .pop_front()?;
        self.ready.set(self.ready.get() - 1);
        Some(slot)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_of_a_group_run_in_the_order_of_their_wakes() {
        let scheduler = Scheduler::new();
        for slot in 0..5 {
            scheduler.push(GroupId::DEFAULT, Slot::new(slot));
        }
        assert_eq!(scheduler.ready(), 5);
        let group = scheduler.next_group().unwrap();
        let order: Vec<_> = std::iter::from_fn(|| scheduler.pop(group)).collect();
        assert_eq!(order, (0..5).map(Slot::new).collect::<Vec<_>>());
        assert_eq!(scheduler.next_group(), None);
    }

    #[test]
    fn slices_follow_shares() {
        let scheduler = Scheduler::new();
        let large = scheduler.add(300);
        for slot in 0..8_000 {
            scheduler.push(GroupId::DEFAULT, Slot::new(slot));
            scheduler.push(large, Slot::new(slot));
        }
        let mut slices = [0_u32; 2];
        for _ in 0..4_000 {
            let group = scheduler.next_group().unwrap();
            scheduler.pop(group);
            scheduler.charge(group, 1_000);
            slices[usize::from(group.0)] += 1;
        }
        assert!(slices[0].abs_diff(1_000) <= 1, "{slices:?}");
    }

    #[test]
    fn a_group_that_was_idle_does_not_catch_up() {
        let scheduler = Scheduler::new();
        let late = scheduler.add(100);
        for slot in 0..2_000 {
            scheduler.push(GroupId::DEFAULT, Slot::new(slot));
        }
        for _ in 0..1_000 {
            let group = scheduler.next_group().unwrap();
            scheduler.pop(group);
            scheduler.charge(group, 1_000);
        }
        for slot in 0..1_000 {
            scheduler.push(late, Slot::new(slot));
        }
        let mut slices = [0_u32; 2];
        for _ in 0..100 {
            let group = scheduler.next_group().unwrap();
            scheduler.pop(group);
            scheduler.charge(group, 1_000);
            slices[usize::from(group.0)] += 1;
        }
        assert!(slices[0].abs_diff(50) <= 1, "{slices:?}");
    }
}
