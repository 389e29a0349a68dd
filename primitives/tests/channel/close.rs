//! How a channel ends, from either side.

use crate::support::{Task, at_once};
use corelane_primitives::{Closed, Receiver, RecvError, SendError, Sender, channel};
use futures_core::{FusedStream, Stream};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// A channel with two items, and how it is closed.
fn closed_by(close: impl FnOnce(Sender<u32>, &mut Receiver<u32>)) -> Receiver<u32> {
    let (sender, mut receiver) = channel(8);
    let other = sender.clone();
    assert_eq!(sender.try_send(1), Ok(()));
    assert_eq!(other.try_send(2), Ok(()));
    drop(other);
    assert!(!receiver.is_closed());
    close(sender, &mut receiver);
    assert!(receiver.is_closed());
    receiver
}

// proves: C-3
#[test]
fn closing_drains_and_then_ends() {
    let by_receiver = closed_by(|sender, receiver| {
        receiver.close();
        assert_eq!(sender.try_send(3), Err(SendError::Closed(3)));
    });
    let by_sender = closed_by(|sender, _| {
        sender.close();
        assert_eq!(sender.try_send(3), Err(SendError::Closed(3)));
    });
    let by_last_drop = closed_by(|sender, _| drop(sender));
    for mut receiver in [by_receiver, by_sender, by_last_drop] {
        assert_eq!(at_once(receiver.recv()), Some(1));
        assert!(!receiver.is_finished());
        let mut cx = Context::from_waker(Waker::noop());
        assert_eq!(
            Pin::new(&mut receiver).poll_next(&mut cx),
            Poll::Ready(Some(2))
        );
        assert_eq!(
            Pin::new(&mut receiver).poll_next(&mut cx),
            Poll::Ready(None)
        );
        assert!(receiver.is_terminated());
        assert_eq!(at_once(receiver.recv()), None);
        assert_eq!(at_once(receiver.recv_batch(&mut Vec::new(), 4)), 0);
        assert_eq!(receiver.blocking_recv(), None);
        assert_eq!(receiver.try_recv(), Err(RecvError::Closed));
    }
}

// proves: C-3
#[test]
fn last_sender_wakes_the_receiver() {
    let (sender, mut receiver) = channel::<u32>(2);
    let other = sender.clone();
    let mut waiting = Task::waiting(receiver.recv());
    drop(sender);
    assert_eq!(waiting.rings(), 0);
    drop(other);
    assert_eq!(waiting.rings(), 1);
    assert_eq!(waiting.ready(), None);
}

// proves: C-3
#[test]
fn dropped_receiver_wakes_every_sender_once() {
    let (sender, receiver) = channel(4);
    let mut permits = sender.try_reserve(2).expect("it is empty");
    for value in 0..2 {
        assert_eq!(sender.try_send(value), Ok(()));
    }
    let mut sends: Vec<_> = (2..5)
        .map(|value| Task::waiting(sender.send(value)))
        .collect();
    let mut reserve = Task::waiting(sender.reserve(4));
    let mut closed = Task::waiting(sender.closed());
    drop(receiver);
    for (index, send) in sends.iter_mut().enumerate() {
        assert_eq!(send.rings(), 1);
        assert_eq!(send.ready(), Err(Closed(index as u32 + 2)));
    }
    assert_eq!(reserve.rings(), 1);
    assert_eq!(reserve.ready().err(), Some(Closed(())));
    assert_eq!(closed.rings(), 1);
    closed.ready();
    assert_eq!(permits.send(9), Err(SendError::Closed(9)));
    at_once(sender.closed());
    assert!(sender.is_closed());
}

// proves: C-3
#[test]
fn dropped_receiver_ends_blocked_threads() {
    let (sender, receiver) = channel(1);
    assert_eq!(sender.try_send(0), Ok(()));
    std::thread::scope(|scope| {
        let blocked: Vec<_> = (1..4)
            .map(|value| {
                let sender = sender.clone();
                scope.spawn(move || sender.blocking_send(value))
            })
            .collect();
        drop(receiver);
        for (index, thread) in blocked.into_iter().enumerate() {
            let sent = thread.join().expect("no send panics");
            assert_eq!(sent, Err(Closed(index + 1)));
        }
    });
}

#[test]
fn weak_handle_keeps_nothing_open() {
    let (sender, mut receiver) = channel(2);
    let weak = sender.downgrade();
    let again = weak.upgrade().expect("a sender is there");
    assert!(again.is_same_channel(&sender));
    drop(sender);
    assert_eq!(again.try_send(1), Ok(()));
    drop(again);
    assert!(weak.clone().upgrade().is_none());
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!(receiver.try_recv(), Err(RecvError::Closed));
}

#[test]
fn waiting_for_the_close_may_be_given_up() {
    let (sender, mut receiver) = channel::<u32>(2);
    let mut kept = Task::waiting(sender.closed());
    let dropped = Task::waiting(sender.closed());
    drop(dropped);
    receiver.close();
    assert_eq!(kept.rings(), 1);
    kept.ready();
}
