//! What is refused comes back, and what is inside is dropped once.

use crate::support::{Task, at_once};
use corelane_primitives::{
    ChannelBuilder, ChannelError, Closed, Receiver, RecvError, SendError, Sender, WeakSender,
    channel,
};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use thread_aware::ThreadAware;

// proves: C-1
#[test]
fn capacity_zero_is_refused() {
    let refused = ChannelBuilder::<u32>::new(0).build().map(|_| ());
    assert_eq!(refused, Err(ChannelError::Capacity(0)));
    for capacity in [(1 << 31) + 1, usize::MAX] {
        let refused = ChannelBuilder::<u32>::new(capacity).build().map(|_| ());
        assert_eq!(refused, Err(ChannelError::Capacity(capacity)));
    }
    assert!(catch_unwind(|| channel::<u32>(0)).is_err());
}

// proves: C-1
#[test]
fn every_capacity_is_exact() {
    for capacity in 1..20 {
        let (sender, mut receiver) = channel(capacity);
        for lap in 0..3 {
            for value in 0..capacity {
                assert_eq!(sender.try_send((lap, value)), Ok(()));
            }
            assert_eq!(
                sender.try_send((lap, capacity)),
                Err(SendError::Full((lap, capacity)))
            );
            assert_eq!(sender.occupancy(), capacity);
            for value in 0..capacity {
                assert_eq!(receiver.try_recv(), Ok((lap, value)));
            }
            assert_eq!(receiver.try_recv(), Err(RecvError::Empty));
        }
    }
}

// proves: C-1
#[test]
fn full_and_closed_hand_the_value_back() {
    let (sender, mut receiver) = channel(1);
    assert_eq!(sender.try_send(Box::new(1)), Ok(()));
    assert_eq!(
        sender.try_send(Box::new(2)),
        Err(SendError::Full(Box::new(2)))
    );
    assert_eq!(sender.try_reserve(1).err(), Some(SendError::Full(())));
    let mut waiting = Task::waiting(sender.send(Box::new(3)));
    receiver.close();
    assert_eq!(waiting.ready(), Err(Closed(Box::new(3))));
    drop(waiting);
    assert_eq!(
        sender.try_send(Box::new(4)),
        Err(SendError::Closed(Box::new(4)))
    );
    assert_eq!(at_once(sender.send(Box::new(5))), Err(Closed(Box::new(5))));
    assert_eq!(sender.blocking_send(Box::new(6)), Err(Closed(Box::new(6))));
    assert_eq!(sender.try_reserve(1).err(), Some(SendError::Closed(())));
    assert_eq!(at_once(sender.reserve(1)).err(), Some(Closed(())));
}

// proves: C-1
#[test]
fn permits_hand_the_value_back() {
    let (sender, mut receiver) = channel(2);
    let mut permits = sender.try_reserve(2).expect("it is empty");
    assert_eq!(permits.send("a"), Ok(()));
    receiver.close();
    assert_eq!(permits.send("b"), Err(SendError::Closed("b")));
    assert_eq!(permits.send("c"), Err(SendError::Full("c")));
    assert!(permits.is_empty());
    assert_eq!(receiver.try_recv(), Ok("a"));
    assert_eq!(receiver.try_recv(), Err(RecvError::Closed));
}

/// Says whether `T` can be cloned.
struct Probe<T>(PhantomData<T>);

trait OtherwiseNot {
    const CLONE: bool = false;
}

impl<T> OtherwiseNot for Probe<T> {}

impl<T: Clone> Probe<T> {
    const CLONE: bool = true;
}

// proves: C-2
#[test]
fn second_receiver_does_not_compile() {
    let clones = (Probe::<Sender<u32>>::CLONE, Probe::<Receiver<u32>>::CLONE);
    assert_eq!(clones, (true, false));
}

#[test]
fn handles_go_where_they_are_wanted() {
    fn travels<H: Send + Sync + Clone + ThreadAware>(_: &H) {}
    fn moves<H: Send>(_: H) {}
    let (sender, mut receiver) = channel::<std::cell::Cell<u32>>(2);
    travels::<Sender<std::cell::Cell<u32>>>(&sender);
    travels::<WeakSender<std::cell::Cell<u32>>>(&sender.downgrade());
    moves(receiver.recv());
    moves(receiver);
    let (sender, _receiver) = channel::<u32>(2);
    moves(sender.send(1));
    moves(sender.reserve(1));
}

#[test]
fn what_is_inside_is_dropped_once() {
    let root = Arc::new(());
    let (sender, mut receiver) = channel(5);
    for _ in 0..5 {
        assert!(sender.try_send(root.clone()).is_ok());
    }
    assert!(receiver.try_recv().is_ok());
    assert_eq!(Arc::strong_count(&root), 5);
    drop(receiver);
    assert_eq!(Arc::strong_count(&root), 1);
    assert!(sender.try_send(root.clone()).is_err());
    assert_eq!(Arc::strong_count(&root), 1);
}

#[test]
fn fold_that_panics_has_taken_the_item() {
    let (sender, mut receiver) = channel(4);
    for value in 0..4 {
        assert_eq!(sender.try_send(value), Ok(()));
    }
    let mut waiting = Task::waiting(sender.send(4));
    let fold = AssertUnwindSafe(|| {
        receiver.fold(4, (), |(), value| assert_ne!(value, 1));
    });
    assert!(catch_unwind(fold).is_err());
    assert_eq!(waiting.rings(), 1);
    assert_eq!(waiting.ready(), Ok(()));
    drop(waiting);
    let left = receiver.fold(9, Vec::new(), |mut all, value| {
        all.push(value);
        all
    });
    assert_eq!(left.acc, [2, 3, 4]);
    assert_eq!(
        at_once(sender.reserve(4)).map(|permits| permits.len()),
        Ok(4)
    );
}
