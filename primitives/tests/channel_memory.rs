//! What a channel keeps, counted by a program of its own.
#![cfg(not(corelane_loom))]

use corelane_primitives::{Receiver, Sender, channel};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, Stats, StatsAlloc};
use std::alloc::System;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Waker};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The counts are the whole process's, so the tests take turns.
static TURN: Mutex<()> = Mutex::new(());

const CAPACITY: usize = 64;
const BURST: usize = 4_096;
/// What the list of those who wait may keep beyond a fresh one: places for 64.
const KEPT_BYTES_MAX: isize = 4_096;

/// What is held more than at the start; what a reallocation adds or takes is in both counts.
fn held(change: &Stats) -> isize {
    change.bytes_allocated as isize - change.bytes_deallocated as isize
}

/// Many senders wait at once; all are served.
fn burst(sender: &Sender<usize>, receiver: &mut Receiver<usize>) {
    let mut cx = Context::from_waker(Waker::noop());
    let mut sends: Vec<Pin<Box<dyn Future<Output = _>>>> = Vec::new();
    for value in 0..BURST {
        sends.push(Box::pin(sender.send(value)));
    }
    let mut received = 0;
    while received < BURST {
        sends.retain_mut(|send| send.as_mut().poll(&mut cx).is_pending());
        received = receiver.fold(CAPACITY, received, |count, _| count + 1).acc;
    }
    assert!(sends.is_empty());
}

// proves: C-8
#[test]
fn memory_returns_to_its_resting_size_after_a_burst() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let (sender, mut receiver) = channel(CAPACITY);
    let fresh = Region::new(ALLOCATOR);
    burst(&sender, &mut receiver);
    let resting = held(&fresh.change());
    assert!(resting <= KEPT_BYTES_MAX, "{resting} bytes are kept");
    for _ in 0..4 {
        burst(&sender, &mut receiver);
        assert_eq!(held(&fresh.change()), resting, "and no burst adds to it");
    }
}

/// All places come back at once, and all who wait are granted theirs and rung by one call.
// proves: C-8
#[test]
fn memory_returns_after_many_are_granted_at_once() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let (sender, mut receiver) = channel(BURST);
    let mut cx = Context::from_waker(Waker::noop());
    let fresh = Region::new(ALLOCATOR);
    for _ in 0..2 {
        let all = sender.try_reserve(BURST).expect("it is empty");
        let mut sends: Vec<Pin<Box<dyn Future<Output = _>>>> = Vec::new();
        for value in 2..BURST {
            sends.push(Box::pin(sender.send(value)));
        }
        // While somebody wants several, each place is one's.
        let mut several = Box::pin(sender.reserve(2));
        sends.retain_mut(|send| send.as_mut().poll(&mut cx).is_pending());
        assert!(several.as_mut().poll(&mut cx).is_pending());
        drop(all);
        sends.retain_mut(|send| send.as_mut().poll(&mut cx).is_pending());
        assert!(sends.is_empty());
        let permits = several.as_mut().poll(&mut cx);
        assert!(matches!(permits, std::task::Poll::Ready(Ok(permits)) if permits.len() == 2));
        drop((sends, several));
        let mut received = 0;
        while received < BURST - 2 {
            received = receiver.fold(BURST, received, |count, _| count + 1).acc;
        }
        let kept = held(&fresh.change());
        assert!(kept <= KEPT_BYTES_MAX, "{kept} bytes are kept");
    }
}

#[test]
fn sending_and_draining_allocate_nothing() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let (sender, mut receiver) = channel(CAPACITY);
    let mut fewest = usize::MAX;
    for _ in 0..10 {
        let region = Region::new(ALLOCATOR);
        let mut permits = sender.try_reserve(CAPACITY / 2).expect("it is empty");
        for value in 0..CAPACITY / 2 {
            assert_eq!(sender.try_send(value), Ok(()));
            assert_eq!(permits.send(value), Ok(()));
        }
        drop(permits);
        assert!(sender.try_send(0).is_err());
        assert_eq!(
            receiver.fold(CAPACITY, 0, |count, _| count + 1).acc,
            CAPACITY
        );
        assert_eq!(sender.blocking_send(1), Ok(()));
        assert_eq!(receiver.blocking_recv(), Some(1));
        let change = region.change();
        fewest = fewest.min(change.allocations + change.reallocations);
    }
    assert_eq!(fewest, 0);
}
