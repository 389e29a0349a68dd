//! Who makes which value, and who waits for it, in the whole process.
//!
//! Owner: one table under a lock. It is used when a partition is touched first, never by a hit, and
//! no foreign code runs under its lock.
//! Rule: a state becomes or stops being MAKING under the lock, except that a finished value is
//! published before its maker takes the lock. Nobody waits before it has walked from the value's
//! maker along who waits for whom, and found that the walk does not come back: a cycle would never
//! end. Models: `tests/models/arc.rs`.

use alloc::{sync::Arc as StdArc, vec::Vec};
use core::ptr;
use std::sync::PoisonError;

use super::node::{EMPTY, HOMING, MAKING, Node};
use crate::{
    arc::lineage::Lineage,
    sync::{Condvar, MutexGuard, ThreadId, process_wide, this_thread},
};

/// The table. Nodes are named by their address, which is theirs as long as they are in here.
struct Work {
    makers: Vec<(usize, ThreadId)>,
    waiting: Vec<Waiter>,
}

struct Waiter {
    node: usize,
    thread: ThreadId,
    bell: StdArc<Condvar>,
}

process_wide!(WORK: Work = Work { makers: Vec::new(), waiting: Vec::new() });

fn lock() -> MutexGuard<'static, Work> {
    WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What came of the wish to make a node's value.
pub(super) enum Claim<'a, T: ?Sized> {
    /// The caller makes it.
    Mine(Making<'a, T>),
    /// The node has a value now.
    Made,
    /// Its maker waits for the caller.
    Cycle,
}

/// Claims `node`, or waits for who did.
///
/// When a maker gives up, one of those who wait is the next to claim.
pub(super) fn claim<'a, T: ?Sized>(lineage: &Lineage<T>, node: &'a Node<T>) -> Claim<'a, T> {
    let (name, thread) = (ptr::from_ref(node).addr(), this_thread());
    let mut work = lock();
    loop {
        match node.state() {
            HOMING => lineage.settle(node),
            EMPTY => {
                if node.advance(EMPTY, MAKING) {
                    work.makers.push((name, thread));
                    return Claim::Mine(Making {
                        node,
                        is_made: false,
                    });
                }
            }
            MAKING if work.would_never_end(name, thread) => return Claim::Cycle,
            MAKING => work = wait(work, name, thread),
            _ => return Claim::Made,
        }
    }
}

/// Puts `value` into `node`, unless it has or is getting one.
pub(super) fn insert<T: ?Sized>(
    lineage: &Lineage<T>,
    node: &Node<T>,
    value: StdArc<T>,
) -> Result<(), StdArc<T>> {
    // The lock lets nobody see the claim, so that who is refused finds the value.
    let _work = lock();
    while !node.advance(EMPTY, MAKING) {
        match node.state() {
            EMPTY => {}
            HOMING => lineage.settle(node),
            _ => return Err(value),
        }
    }
    // SAFETY: The state was moved to MAKING here, and this is the one publish.
    unsafe { node.publish(value) };
    Ok(())
}

/// Waits until the maker of the node called `name` is done, or has given up.
fn wait(
    mut work: MutexGuard<'static, Work>,
    name: usize,
    thread: ThreadId,
) -> MutexGuard<'static, Work> {
    let bell = StdArc::new(Condvar::new());
    work.waiting.push(Waiter {
        node: name,
        thread,
        bell: bell.clone(),
    });
    while work.waiting.iter().any(|waiter| waiter.thread == thread) {
        work = bell.wait(work).unwrap_or_else(PoisonError::into_inner);
    }
    work
}

impl Work {
    /// Whether the maker of `node` waits, directly or through others, for `thread`.
    fn would_never_end(&self, mut node: usize, thread: ThreadId) -> bool {
        // Bounded: each round goes to another waiter, since each of them passed this very check.
        loop {
            let Some((_, maker)) = self.makers.iter().find(|(made, _)| *made == node) else {
                return false;
            };
            if *maker == thread {
                return true;
            }
            let Some(waiter) = self.waiting.iter().find(|waiter| waiter.thread == *maker) else {
                return false;
            };
            node = waiter.node;
        }
    }

    /// Forgets a maker and wakes who waits for it.
    fn end(&mut self, node: usize) {
        self.makers.retain(|(made, _)| *made != node);
        self.waiting.retain(|waiter| {
            if waiter.node == node {
                waiter.bell.notify_one();
            }
            waiter.node != node
        });
    }
}

/// The right to make a node's value. Dropping it, as a panic does, leaves the node empty.
pub(super) struct Making<'a, T: ?Sized> {
    node: &'a Node<T>,
    is_made: bool,
}

impl<T: ?Sized> Making<'_, T> {
    pub(super) fn finish(mut self, value: StdArc<T>) {
        // SAFETY: `claim` moved the state to MAKING for this one right, which is used up here.
        unsafe { self.node.publish(value) };
        self.is_made = true;
    }
}

impl<T: ?Sized> Drop for Making<'_, T> {
    fn drop(&mut self) {
        let mut work = lock();
        if !self.is_made {
            self.node.abandon();
        }
        work.end(ptr::from_ref(self.node).addr());
    }
}
