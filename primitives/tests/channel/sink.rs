//! A sender as a sink.

use crate::bell::bell;
use crate::support::{at_once, cx};
use corelane_primitives::{Closed, SendError, Sender, channel};
use futures_sink::Sink;
use std::pin::Pin;
use std::task::{Poll, Waker};

fn poll_ready(sender: &mut Sender<u32>, waker: &Waker) -> Poll<Result<(), SendError<Option<u32>>>> {
    Pin::new(sender).poll_ready(&mut cx(waker))
}

fn start_send(sender: &mut Sender<u32>, value: u32) -> Result<(), SendError<Option<u32>>> {
    Pin::new(sender).start_send(value)
}

// proves: C-4
#[test]
fn readiness_is_one_place_and_is_given_back() {
    let (sender, mut receiver) = channel(2);
    let (noop, mut sink) = (Waker::noop(), sender.clone());
    for _ in 0..3 {
        assert_eq!(
            poll_ready(&mut sink, noop),
            Poll::Ready(Ok(())),
            "one place, however often"
        );
    }
    assert_eq!(sender.try_send(1), Ok(()));
    assert_eq!(sender.try_send(2), Err(SendError::Full(2)));
    let (rings, waker) = bell();
    let mut second = sender.clone();
    assert!(poll_ready(&mut second, &waker).is_pending());
    drop(sink);
    assert_eq!(rings.rings(), 1, "its place came back");
    assert_eq!(poll_ready(&mut second, &waker), Poll::Ready(Ok(())));
    assert_eq!(start_send(&mut second, 2), Ok(()));
    let third = second.clone();
    assert!(poll_ready(&mut second, &waker).is_pending());
    drop(second);
    drop(third);
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!(
        sender.try_send(3),
        Ok(()),
        "a wait that was given up keeps nothing"
    );
    assert_eq!(receiver.try_recv(), Ok(2));
    assert_eq!(receiver.try_recv(), Ok(3));
}

// proves: C-4
#[test]
fn sink_keeps_its_order_at_capacity_one() {
    let (mut sink, mut receiver) = channel(1);
    for value in 0..10 {
        assert_eq!(poll_ready(&mut sink, Waker::noop()), Poll::Ready(Ok(())));
        assert_eq!(start_send(&mut sink, value), Ok(()));
        let flushed = Pin::new(&mut sink).poll_flush(&mut cx(Waker::noop()));
        assert_eq!(flushed, Poll::Ready(Ok(())));
        assert!(poll_ready(&mut sink, Waker::noop()).is_pending());
        assert_eq!(receiver.try_recv(), Ok(value));
    }
}

#[test]
fn closing_a_sink_counts_its_handle_out() {
    let (mut sink, mut receiver) = channel(2);
    assert_eq!(start_send(&mut sink, 1), Ok(()), "there is a place");
    assert_eq!(poll_ready(&mut sink, Waker::noop()), Poll::Ready(Ok(())));
    assert_eq!(start_send(&mut sink, 2), Ok(()));
    assert_eq!(start_send(&mut sink, 3), Err(SendError::Full(Some(3))));
    for _ in 0..2 {
        let closed = Pin::new(&mut sink).poll_close(&mut cx(Waker::noop()));
        assert_eq!(closed, Poll::Ready(Ok(())));
    }
    let mut clone = sink.clone();
    for sink in [&mut sink, &mut clone] {
        assert_eq!(sink.try_send(4), Err(SendError::Closed(4)));
        assert_eq!(at_once(sink.send(5)), Err(Closed(5)));
        assert_eq!(at_once(sink.reserve(1)).err(), Some(Closed(())));
        assert_eq!(start_send(sink, 6), Err(SendError::Closed(Some(6))));
        let ready = poll_ready(sink, Waker::noop());
        assert_eq!(ready, Poll::Ready(Err(SendError::Closed(None))));
        at_once(sink.closed());
    }
    assert_eq!(at_once(receiver.recv()), Some(1));
    assert_eq!(at_once(receiver.recv()), Some(2));
    assert_eq!(at_once(receiver.recv()), None);
}

#[test]
fn closed_channel_hands_a_sinks_value_back() {
    let (mut sink, mut receiver) = channel(1);
    assert_eq!(poll_ready(&mut sink, Waker::noop()), Poll::Ready(Ok(())));
    receiver.close();
    let ready = poll_ready(&mut sink, Waker::noop());
    assert_eq!(ready, Poll::Ready(Err(SendError::Closed(None))));
    assert_eq!(start_send(&mut sink, 1), Err(SendError::Closed(Some(1))));
}
