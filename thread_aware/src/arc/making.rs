//! Who makes which value, and who waits for it, in the whole process.
//!
//! Owner: a node's state names the thread that makes its value. Who waits for one is in one table
//! under a lock, which only those use who wait, those they wait for, and inserts into storages. No
//! foreign code runs under it.
//! Rules: nobody waits before it has walked from the value's maker along who waits for whom, under
//! the lock, and found that the walk does not come back: a cycle would never end. Who waits marks
//! the state first, so that a maker that sees no mark has nobody to wake. A marked state changes
//! under the lock and together with the table, so each entry is of a value that the thread that
//! was walked from still makes; with entries of ended ones, walks could meet cycles that nobody
//! checked, and go round them for ever. Models: `tests/models/`.

use alloc::{sync::Arc as StdArc, vec::Vec};
use core::ptr::{self, NonNull};
use std::sync::PoisonError;

use super::{
    lineage::Lineage,
    node::{AWAITED, EMPTY, HOMING, MAKING, Node, kind, made_by, maker},
};
use crate::sync::{
    AtomicU64, Backoff, Condvar, MutexGuard, Ordering::Relaxed, process_wide, thread_number,
};

/// Those who wait. Each has a handle of the node, so the node outlives its entry.
pub(super) struct Waiting(Vec<Waiter>);

struct Waiter {
    /// The state of the node that is waited for.
    state: NonNull<AtomicU64>,
    thread: u64,
    bell: StdArc<Condvar>,
}

// SAFETY: The pointer is to an atomic, and valid while the entry is there.
unsafe impl Send for Waiter {}

process_wide!(WAITING: Waiting = Waiting(Vec::new()));

pub(super) fn lock() -> MutexGuard<'static, Waiting> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What came of the wish to make a node's value.
pub(super) enum Claim<'a, T: ?Sized> {
    /// The caller makes it.
    Mine(Making<'a, T>),
    /// The node has a value now, or had nobody to wait for any more.
    Changed,
    /// Its maker waits for the caller.
    Cycle,
}

/// Claims `node`, or waits for who did.
pub(super) fn claim<'a, T: ?Sized>(lineage: &Lineage<T>, node: &'a Node<T>) -> Claim<'a, T> {
    let thread = thread_number();
    let state = node.state();
    match kind(state) {
        EMPTY if node.advance(EMPTY, made_by(MAKING, thread)) => {
            return Claim::Mine(Making {
                node,
                thread,
                is_made: false,
            });
        }
        HOMING => lineage.settle(node),
        MAKING | AWAITED if !wait(node, thread) => return Claim::Cycle,
        _ => {}
    }
    Claim::Changed
}

/// Puts `value` into `node`, unless it has or is getting one.
pub(super) fn insert<T: ?Sized>(
    lineage: &Lineage<T>,
    node: &Node<T>,
    value: StdArc<T>,
) -> Result<(), StdArc<T>> {
    // With the lock, so that an insert that is refused because of another finds its value.
    let _waiting = lock();
    while !node.advance(EMPTY, made_by(MAKING, thread_number())) {
        match node.state() {
            EMPTY => {}
            HOMING => lineage.settle(node),
            _ => return Err(value),
        }
    }
    // SAFETY: The state was moved to MAKING here, and this is the one publish. Nobody can wait for
    // it: that takes the lock.
    unsafe { node.publish(value) };
    Ok(())
}

/// How often a thread backs off all the way before it sleeps.
///
/// That takes some 30 µs, about what it takes to fall asleep and to be woken on another core, and
/// longer than most values take to make. Bench: the storms of the suite `thread_aware`.
const BACKOFFS: usize = 8;

/// Waits until the maker of `node` is done, or has given up; not if that would never come.
fn wait<T: ?Sized>(node: &Node<T>, thread: u64) -> bool {
    if maker(node.state()) != thread && sees_the_end(node) {
        return true;
    }
    let mut waiting = lock();
    let state = node.state();
    if !is_being_made(state) {
        return true;
    }
    if waiting.would_never_end(maker(state), thread) {
        return false;
    }
    let awaited = made_by(AWAITED, maker(state));
    if state != awaited && !node.advance(state, awaited) {
        return true;
    }
    let bell = StdArc::new(Condvar::new());
    let state = NonNull::from(node.state_word());
    waiting.0.push(Waiter {
        state,
        thread,
        bell: bell.clone(),
    });
    while waiting.0.iter().any(|waiter| waiter.thread == thread) {
        waiting = bell.wait(waiting).unwrap_or_else(PoisonError::into_inner);
    }
    true
}

/// Whether `node` ceases to be made while its reader backs off.
fn sees_the_end<T: ?Sized>(node: &Node<T>) -> bool {
    for _ in 0..BACKOFFS {
        let backoff = Backoff::new();
        while !backoff.is_completed() {
            if !is_being_made(node.state()) {
                return true;
            }
            backoff.snooze();
        }
    }
    false
}

fn is_being_made(state: u64) -> bool {
    matches!(kind(state), MAKING | AWAITED)
}

impl Waiting {
    /// Whether `maker` waits, directly or through others, for `thread`.
    fn would_never_end(&self, mut maker: u64, thread: u64) -> bool {
        // Bounded: each round goes on to another waiter, since each of them passed this very check
        // and is gone when what it checked is.
        while maker != thread {
            let Some(waiter) = self.0.iter().find(|waiter| waiter.thread == maker) else {
                return false;
            };
            // SAFETY: Valid: the waiter has a handle of the node until its entry is gone, which
            // takes the lock. Shared: an atomic.
            let state = unsafe { waiter.state.as_ref() };
            // Relaxed: a state that is waited for is marked and changed under this lock.
            let state = state.load(Relaxed);
            debug_assert_eq!(kind(state), AWAITED, "an entry goes with its mark");
            maker = self::maker(state);
        }
        true
    }

    /// Wakes who waits for a state.
    fn wake(&mut self, state: &AtomicU64) {
        self.0.retain(|waiter| {
            let is_done = ptr::eq(waiter.state.as_ptr(), state);
            if is_done {
                waiter.bell.notify_one();
            }
            !is_done
        });
    }
}

/// The right to make a node's value. Dropping it, as a panic does, leaves the node empty.
pub(super) struct Making<'a, T: ?Sized> {
    node: &'a Node<T>,
    thread: u64,
    is_made: bool,
}

impl<T: ?Sized> Making<'_, T> {
    pub(super) fn finish(mut self, value: StdArc<T>) {
        self.is_made = true;
        // SAFETY: `claim` moved the state to MAKING for this one right, which is used up here.
        unsafe { self.node.put(value) };
        self.end(|state| self.node.show(state));
    }

    /// Ends the claim by `change`, which tries it from the state that it is given, and wakes who
    /// waits, if that state says that anybody does.
    fn end(&self, change: impl Fn(u64) -> bool) {
        if change(made_by(MAKING, self.thread)) {
            return;
        }
        let mut waiting = lock();
        // Only a mark can have changed the state, and only its maker ends it.
        let ended = change(made_by(AWAITED, self.thread));
        debug_assert!(ended, "nobody else ends a claim");
        waiting.wake(self.node.state_word());
    }
}

impl<T: ?Sized> Drop for Making<'_, T> {
    fn drop(&mut self) {
        if !self.is_made {
            self.end(|state| self.node.advance(state, EMPTY));
        }
    }
}
