//! Models of the channel: its credits, its close, and the order of its items.

use crate::bell::wait;
use crate::kept::Kept;
use crate::models::explore;
use corelane_primitives::{Closed, RecvError, SendError, Sender, channel};
use loom::thread;
use std::pin::pin;
use std::task::{Context, Waker};

/// Name and model, in the order in which mutants meet them.
pub(crate) const MODELS: &[(&str, fn())] = &[
    ("two_sends_share_one_place", two_sends_share_one_place),
    (
        "sleeping_receiver_is_woken_by_a_send",
        sleeping_receiver_is_woken_by_a_send,
    ),
    (
        "waiting_send_gets_a_place_that_was_emptied",
        waiting_send_gets_a_place_that_was_emptied,
    ),
    (
        "waiting_send_gets_a_place_that_was_not_used",
        waiting_send_gets_a_place_that_was_not_used,
    ),
    (
        "send_that_gives_up_passes_its_place_on",
        send_that_gives_up_passes_its_place_on,
    ),
    (
        "wait_for_two_places_ends_with_the_second",
        wait_for_two_places_ends_with_the_second,
    ),
    (
        "handle_of_two_threads_has_one_order",
        handle_of_two_threads_has_one_order,
    ),
    ("close_ends_a_waiting_send", close_ends_a_waiting_send),
    (
        "who_was_told_of_the_close_stays_told",
        who_was_told_of_the_close_stays_told,
    ),
    (
        "send_beside_a_close_is_received_or_refused",
        send_beside_a_close_is_received_or_refused,
    ),
    (
        "last_sender_ends_the_channel_behind_its_item",
        last_sender_ends_the_channel_behind_its_item,
    ),
];

/// Sends, waiting for the place; tells how often it was rung, too.
fn send(sender: &Sender<u64>, value: u64) -> (Result<(), Closed<u64>>, usize) {
    let mut send = pin!(sender.send(value));
    wait(|cx| send.as_mut().poll(cx))
}

/// The credit, by which one of them goes on, and nobody passes the capacity.
pub(crate) fn two_sends_share_one_place() {
    explore(|| {
        let (sender, mut receiver) = channel(1);
        let theirs = sender.clone();
        let other = thread::spawn(move || theirs.try_send(1));
        let own = sender.try_send(2);
        assert!(receiver.occupancy() <= 1);
        let other = other.join().expect("it does not panic");
        assert_ne!(own.is_ok(), other.is_ok());
        let refused = own.and(other).expect_err("one found no place");
        assert!(refused.is_full());
        assert_eq!(receiver.try_recv(), Ok(3 - refused.into_inner()));
        assert_eq!(receiver.try_recv(), Err(RecvError::Empty));
        assert!(sender.try_reserve(1).is_ok(), "the place came back");
    });
}

pub(crate) fn sleeping_receiver_is_woken_by_a_send() {
    explore(|| {
        let (sender, mut receiver) = channel(1);
        let kept = Kept::default();
        let theirs = kept.clone();
        thread::spawn(move || {
            assert_eq!(sender.try_send(7), Ok(()));
            theirs.keep(sender);
        });
        let mut recv = pin!(receiver.recv());
        let (item, rings) = wait(|cx| recv.as_mut().poll(cx));
        assert_eq!(item, Some(7));
        assert!(rings <= 1);
        drop(kept);
    });
}

/// It finds the slot free, or the news of that late, and looks again.
pub(crate) fn waiting_send_gets_a_place_that_was_emptied() {
    explore(|| {
        let (sender, mut receiver) = channel(1);
        assert_eq!(sender.try_send(0), Ok(()));
        let kept = Kept::default();
        let theirs = kept.clone();
        thread::spawn(move || {
            assert_eq!(receiver.try_recv(), Ok(0));
            theirs.keep(receiver);
        });
        let (sent, rings) = send(&sender, 1);
        assert!(sent.is_ok() && rings <= 1);
        drop(kept);
    });
}

/// A permit that is dropped is a place that came back, with nothing received.
pub(crate) fn waiting_send_gets_a_place_that_was_not_used() {
    explore(|| {
        let (sender, mut receiver) = channel(1);
        let kept = Kept::default();
        let (handle, theirs) = (sender.clone(), kept.clone());
        thread::spawn(move || {
            drop(handle.try_reserve(1));
            theirs.keep(handle);
        });
        let (sent, rings) = send(&sender, 1);
        assert!(sent.is_ok() && rings <= 1);
        assert_eq!(receiver.try_recv(), Ok(1));
        drop(kept);
    });
}

/// The first in line may have been granted the place when it gives up.
pub(crate) fn send_that_gives_up_passes_its_place_on() {
    explore(|| {
        let (sender, mut receiver) = channel(1);
        assert_eq!(sender.try_send(0), Ok(()));
        let kept = Kept::default();
        let (handle, theirs) = (sender.clone(), kept.clone());
        let mut first = Box::pin(async move {
            let sent = handle.send(8).await;
            theirs.keep(handle);
            sent
        });
        let mut cx = Context::from_waker(Waker::noop());
        assert!(first.as_mut().poll(&mut cx).is_pending());
        let theirs = kept.clone();
        thread::spawn(move || {
            assert_eq!(receiver.try_recv(), Ok(0));
            theirs.keep(receiver);
        });
        thread::spawn(move || drop(first));
        assert!(send(&sender, 1).0.is_ok());
        drop(kept);
    });
}

/// Places come one by one; the wait is for both, and is rung once.
pub(crate) fn wait_for_two_places_ends_with_the_second() {
    explore(|| {
        let (sender, mut receiver) = channel(2);
        assert_eq!(sender.try_send(0), Ok(()));
        assert_eq!(sender.try_send(1), Ok(()));
        let kept = Kept::default();
        let theirs = kept.clone();
        thread::spawn(move || {
            assert_eq!(receiver.try_recv(), Ok(0));
            assert_eq!(receiver.try_recv(), Ok(1));
            theirs.keep(receiver);
        });
        let mut reserve = pin!(sender.reserve(2));
        let (permits, rings) = wait(|cx| reserve.as_mut().poll(cx));
        assert_eq!(permits.map(|permits| permits.len()), Ok(2));
        assert!(rings <= 1);
        drop(kept);
    });
}

/// What the handle has sent before it moves comes before what it sends then, beside another's.
pub(crate) fn handle_of_two_threads_has_one_order() {
    explore(|| {
        let (sender, mut receiver) = channel(3);
        let other = sender.clone();
        assert_eq!(sender.try_send(0), Ok(()));
        let moved = thread::spawn(move || assert_eq!(sender.try_send(1), Ok(())));
        assert_eq!(other.try_send(9), Ok(()));
        let mut taken: Vec<_> = receiver.try_recv().into_iter().collect();
        moved.join().expect("it does not panic");
        taken.extend(std::iter::from_fn(|| receiver.try_recv().ok()));
        assert!(taken == [0, 1, 9] || taken == [0, 9, 1], "{taken:?}");
    });
}

pub(crate) fn close_ends_a_waiting_send() {
    explore(|| {
        let (sender, mut receiver) = channel(1);
        assert_eq!(sender.try_send(0), Ok(()));
        let kept = Kept::default();
        let theirs = kept.clone();
        thread::spawn(move || {
            receiver.close();
            theirs.keep(receiver);
        });
        assert_eq!(send(&sender, 1).0, Err(Closed(1)));
        drop(kept);
    });
}

/// Every call of a handle and every handle agree on whether the channel is closed.
pub(crate) fn who_was_told_of_the_close_stays_told() {
    explore(|| {
        let (sender, mut receiver) = channel(2);
        let kept = Kept::default();
        let theirs = kept.clone();
        thread::spawn(move || {
            receiver.close();
            theirs.keep(receiver);
        });
        let told = [
            matches!(sender.try_send(0), Err(SendError::Closed(0))),
            sender.is_closed(),
            matches!(sender.try_reserve(1), Err(SendError::Closed(()))),
            matches!(sender.try_send(1), Err(SendError::Closed(1))),
            sender.clone().is_closed(),
        ];
        assert!(told.is_sorted(), "{told:?}");
        drop(kept);
    });
}

pub(crate) fn send_beside_a_close_is_received_or_refused() {
    explore(|| {
        let (sender, mut receiver) = channel(1);
        let sending = thread::spawn(move || sender.try_send(7));
        receiver.close();
        let sent = sending.join().expect("it does not panic");
        match sent {
            Ok(()) => assert_eq!(receiver.try_recv(), Ok(7)),
            Err(refused) => assert_eq!(refused, SendError::Closed(7)),
        }
        assert_eq!(receiver.try_recv(), Err(RecvError::Closed));
    });
}

pub(crate) fn last_sender_ends_the_channel_behind_its_item() {
    explore(|| {
        let (sender, mut receiver) = channel(1);
        thread::spawn(move || {
            assert_eq!(sender.try_send(7), Ok(()));
        });
        for item in [Some(7), None] {
            let mut recv = pin!(receiver.recv());
            assert_eq!(wait(|cx| recv.as_mut().poll(cx)).0, item);
        }
    });
}
