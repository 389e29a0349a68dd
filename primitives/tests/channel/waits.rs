//! Who waits is woken once, gets what it needs, and gives back what it does not use.

use crate::bell::{ByHand, bell};
use crate::support::{Act, Task, at_once, cx, ms};
use corelane_primitives::{ChannelBuilder, Closed, SendError, channel};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Waker};

// proves: C-6
#[test]
fn handle_goes_on_in_its_turn_and_leaves_what_others_were_granted() {
    const CAPACITY: usize = 128;
    let (sender, mut receiver) = channel(CAPACITY);
    let [first, second, third] = [(); 3].map(|()| sender.clone());
    for value in 0..CAPACITY {
        assert_eq!(sender.try_send(value), Ok(()));
    }
    let mut waiting = [&first, &second, &third].map(|sender| Task::waiting(sender.send(0)));
    let mut many = Task::waiting(sender.reserve(2));
    assert_eq!(receiver.fold(100, 0, |count, _| count + 1).acc, 100);
    assert!(
        waiting.iter().all(|task| task.rings() == 1),
        "who wants many gets them in turn"
    );
    assert_eq!(many.rings(), 1);
    assert_eq!(many.ready().map(|permits| permits.len()), Ok(2));
    assert_eq!(waiting[0].ready(), Ok(()));
    let mut sent = 0;
    while first.try_send(1).is_ok() {
        sent += 1;
    }
    assert_eq!(sent, 63, "a turn has 64 items");
    assert!(
        sender.try_send(2).is_err_and(|full| full.is_full()),
        "it is not its turn"
    );
    assert_eq!(waiting[1].ready(), Ok(()));
    while second.try_send(1).is_ok() {
        sent += 1;
    }
    assert_eq!(waiting[2].ready(), Ok(()), "its place was left");
    assert_eq!(sender.occupancy(), 28 + 3 + sent);
    assert_eq!(sent, 100 - 3 - 2, "two are left for those who come");
}

/// A turn is one handle's: its clone has none, and who makes handles gets no more by it.
// proves: C-4
// proves: C-7
#[test]
fn clone_of_a_handle_has_no_turn() {
    const CAPACITY: usize = 128;
    let (sender, mut receiver) = channel(CAPACITY);
    let first = sender.clone();
    for value in 0..CAPACITY {
        assert_eq!(sender.try_send(value), Ok(()));
    }
    let mut waiting = [(); 3].map(|()| Task::waiting(first.send(0)));
    assert_eq!(receiver.fold(100, 0, |count, _| count + 1).acc, 100);
    assert_eq!(waiting[0].ready(), Ok(()));
    assert_eq!(first.try_send(1), Ok(()), "it is its turn");
    for handle in [first.clone(), sender.clone(), sender] {
        assert_eq!(handle.try_send(2), Err(SendError::Full(2)));
        assert!(Task::new(handle.send(2)).poll().is_pending());
    }
    assert_eq!(first.try_send(1), Ok(()));
}

/// More than one drain takes.
const MANY: usize = 600;
const DRAIN: usize = 256;

// proves: C-5
// proves: W-5
#[test]
fn drain_takes_up_to_256_and_frees_them_as_one() {
    let (sender, mut receiver) = channel(MANY);
    for value in 0..MANY {
        assert_eq!(sender.try_send(value), Ok(()));
    }
    let senders = vec![sender.clone(); 300];
    let waiting = senders.iter().zip(0..);
    let mut waiting: Vec<_> = waiting
        .map(|(sender, value)| Task::waiting(sender.send(value)))
        .collect();
    let drained = receiver.fold(MANY, 0, |next, value| {
        assert_eq!(value, next);
        let rings: usize = waiting.iter().map(Task::rings).sum();
        assert_eq!(rings, 0, "nothing is given back before the end");
        next + 1
    });
    assert_eq!(
        (drained.acc, drained.consumed, drained.skipped),
        (DRAIN, DRAIN, 0)
    );
    let rings: usize = waiting.iter().map(Task::rings).sum();
    assert_eq!(rings, 5, "one for each turn of 64 items, and one");
    for task in &mut waiting[..DRAIN] {
        assert_eq!(task.rings(), 1, "each that is done has another one woken");
        assert_eq!(task.ready(), Ok(()));
    }
    assert_eq!(waiting[DRAIN..].iter().map(Task::rings).sum::<usize>(), 0);
    let mut out = Vec::new();
    assert_eq!(at_once(receiver.recv_batch(&mut out, MANY)), DRAIN);
    assert_eq!(out, (DRAIN..2 * DRAIN).collect::<Vec<_>>());
    for task in &mut waiting[DRAIN..] {
        assert_eq!(task.ready(), Ok(()));
    }
    assert!(
        waiting.iter().all(|task| task.rings() == 1),
        "one wake a grant"
    );
    assert_eq!(at_once(receiver.recv_batch(&mut out, 3)), 3);
    assert_eq!(receiver.fold(0, 7, |acc, _| acc + 1).acc, 7);
}

// proves: C-5
#[test]
fn each_grant_wakes_once() {
    let (sender, mut receiver) = channel(2);
    let mut permits = sender.try_reserve(2).expect("it is empty");
    let waiting: Vec<_> = (0..3)
        .map(|value| Task::waiting(sender.send(value)))
        .collect();
    assert_eq!(permits.send(8), Ok(()));
    assert_eq!(permits.send(9), Ok(()));
    let rings = || waiting.iter().map(Task::rings).collect::<Vec<_>>();
    assert_eq!(rings(), [0; 3]);
    assert_eq!(receiver.try_recv(), Ok(8));
    assert_eq!(rings(), [1, 0, 0]);
    drop(sender.downgrade());
    assert_eq!(receiver.try_recv(), Ok(9));
    assert_eq!(
        rings(),
        [1, 1, 0],
        "the first was not polled, and is not rung again"
    );
}

// proves: C-6
#[test]
fn grant_is_what_was_asked_for_and_the_rest_comes_back_at_once() {
    let (sender, mut receiver) = channel(4);
    let all = sender.try_reserve(4).expect("it is empty");
    let mut three = Task::waiting(sender.reserve(3));
    let mut one = Task::waiting(sender.send(1));
    drop(all);
    assert_eq!((three.rings(), one.rings()), (1, 1));
    let mut permits = three.ready().expect("nobody closes");
    assert_eq!(permits.len(), 3);
    assert_eq!(one.ready(), Ok(()));
    let mut two = Task::waiting(sender.reserve(2));
    assert_eq!(permits.send(2), Ok(()));
    assert_eq!(two.rings(), 0);
    drop(permits);
    assert_eq!(two.rings(), 1, "two unused ones came back");
    assert_eq!(two.ready().map(|permits| permits.len()), Ok(2));
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!(receiver.try_recv(), Ok(2));
    assert_eq!(sender.try_reserve(4).map(|permits| permits.len()), Ok(4));
}

// proves: C-6
#[test]
fn large_need_is_not_starved_by_small_ones() {
    let (sender, mut receiver) = channel(3);
    for value in 0..3 {
        assert_eq!(sender.try_send(value), Ok(()));
    }
    let mut large = Task::waiting(sender.reserve(3));
    let mut small = Task::waiting(sender.send(9));
    for value in 0..3 {
        assert_eq!((large.rings(), small.rings()), (0, 0));
        assert!(small.poll().is_pending());
        assert_eq!(receiver.try_recv(), Ok(value));
    }
    let permits = large.ready().expect("nobody closes");
    assert!(small.poll().is_pending());
    drop(permits);
    assert_eq!(small.ready(), Ok(()));
}

// proves: C-6
#[test]
fn wait_that_is_given_up_passes_its_grant_on() {
    let (sender, mut receiver) = channel(1);
    assert_eq!(sender.try_send(1), Ok(()));
    let granted = Task::waiting(sender.send(2));
    let mut next = Task::waiting(sender.reserve(1));
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!((granted.rings(), next.rings()), (1, 0));
    drop(granted);
    assert_eq!(next.rings(), 1);
    drop(next.ready());
    assert_eq!(sender.try_send(3), Ok(()));
    assert_eq!(receiver.try_recv(), Ok(3));
}

#[test]
fn more_permits_than_places_are_refused() {
    let (sender, _receiver) = channel::<u32>(4);
    let asked = AssertUnwindSafe(|| at_once(sender.reserve(5)).map(|permits| permits.len()));
    assert!(catch_unwind(asked).is_err());
    assert_eq!(sender.try_reserve(5).err(), Some(SendError::Full(())));
    assert_eq!(
        at_once(sender.reserve(0)).map(|permits| permits.len()),
        Ok(0)
    );
}

#[test]
fn send_with_a_timeout_ends_in_time_and_never_early() {
    let clock = Arc::new(ByHand::default());
    let built = ChannelBuilder::new(1).timers(clock.clone()).build();
    let (sender, mut receiver) = built.expect("one is a capacity");
    assert_eq!(at_once(sender.send_timeout(1, ms(10))), Ok(()));
    assert_eq!(clock.armed(), 0);
    let mut late = Task::waiting(sender.send_timeout(2, ms(10)));
    let mut next = Task::waiting(sender.send_timeout(3, ms(20)));
    clock.advance(ms(9));
    assert!(late.poll().is_pending());
    clock.advance(ms(1));
    assert_eq!(late.rings(), 1);
    assert_eq!(late.ready(), Err(SendError::TimedOut(2)));
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!(next.rings(), 1);
    assert_eq!(next.ready(), Ok(()));
    assert_eq!(clock.armed(), 0);
    let dropped = Task::waiting(sender.send_timeout(4, ms(20)));
    assert_eq!(clock.armed(), 1);
    drop(dropped);
    assert_eq!(clock.armed(), 0);
    receiver.close();
    assert_eq!(
        at_once(sender.send_timeout(5, ms(1))),
        Err(SendError::Closed(5))
    );
}

#[test]
fn send_with_a_timeout_needs_timers() {
    let (sender, mut receiver) = channel(1);
    assert_eq!(
        at_once(sender.send_timeout(1, ms(1))),
        Err(SendError::NoTimers(1))
    );
    assert_eq!(sender.blocking_send_timeout(2, ms(1)), Ok(()));
    assert_eq!(
        sender.blocking_send_timeout(3, ms(1)),
        Err(SendError::TimedOut(3))
    );
    assert_eq!(receiver.try_recv(), Ok(2));
    assert_eq!(
        sender.try_send(4),
        Ok(()),
        "the wait has left nothing behind"
    );
}

// proves: W-1
#[test]
fn receiver_is_woken_once_a_sleep() {
    let (sender, mut receiver) = channel(4);
    let mut waiting = Task::waiting(receiver.recv());
    for value in 0..3 {
        assert_eq!(sender.try_send(value), Ok(()));
    }
    assert_eq!(waiting.rings(), 1);
    assert_eq!(waiting.ready(), Some(0));
    drop(waiting);
    let (rings, waker) = bell();
    {
        let mut ready = pin!(receiver.ready());
        assert_eq!(ready.as_mut().poll(&mut cx(&waker)), Poll::Ready(true));
    }
    assert_eq!(sender.try_send(3), Ok(()));
    assert_eq!(rings.rings(), 0, "it is not parked");
    assert_eq!(receiver.fold(9, 0, |sum, value| sum + value).acc, 6);
    drop(Task::waiting(receiver.recv_batch(&mut Vec::new(), 4)));
    let dropped = Task::waiting(receiver.recv());
    drop(dropped);
    assert_eq!(sender.try_send(4), Ok(()), "nobody is woken");
}

// proves: W-4
#[test]
fn waker_may_use_the_channel() {
    let (sender, mut receiver) = channel(2);
    assert_eq!(sender.try_send(0), Ok(()));
    assert_eq!(sender.try_send(1), Ok(()));
    let again = sender.clone();
    let act = Waker::from(Arc::new(Act(move || {
        assert_eq!(
            again.try_send(9),
            Err(SendError::Full(9)),
            "the granted one is first"
        );
        drop(again.clone());
    })));
    let mut send = pin!(sender.send(2));
    assert!(send.as_mut().poll(&mut cx(&act)).is_pending());
    assert_eq!(receiver.try_recv(), Ok(0));
    assert_eq!(send.as_mut().poll(&mut cx(&act)), Poll::Ready(Ok(())));
    receiver.close();
    assert_eq!(at_once(sender.send(3)), Err(Closed(3)));
}

// proves: W-4
#[test]
fn waker_that_panics_loses_nobody_elses_wake() {
    let (sender, mut receiver) = channel(2);
    assert_eq!(sender.try_send(0), Ok(()));
    assert_eq!(sender.try_send(1), Ok(()));
    let bad = Waker::from(Arc::new(Act(|| panic!("a bad waker"))));
    let mut first = pin!(sender.send(2));
    assert!(first.as_mut().poll(&mut cx(&bad)).is_pending());
    let mut second = Task::waiting(sender.send(3));
    let drained = AssertUnwindSafe(|| receiver.fold(2, 0, |count, _| count + 1).acc);
    assert!(catch_unwind(drained).is_err());
    assert_eq!(second.rings(), 1);
    assert_eq!(second.ready(), Ok(()));
    assert_eq!(first.as_mut().poll(&mut cx(&bad)), Poll::Ready(Ok(())));
    assert_eq!(receiver.fold(2, 0, |sum, value| sum + value).acc, 5);
}
