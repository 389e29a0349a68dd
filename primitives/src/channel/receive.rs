//! Waiting for items.

use super::passage::Passage;
use super::receiver::Receiver;
use futures_core::{FusedStream, Stream};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

impl<T, P: Passage<T>> Receiver<T, P> {
    fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        if ready!(self.consumer.poll_ready(cx)) {
            // An item that was seen stays until it is taken.
            return Poll::Ready(self.take());
        }
        Poll::Ready(None)
    }
}

pub(super) struct Receiving<'a, T, P: Passage<T>> {
    pub(super) receiver: &'a mut Receiver<T, P>,
}

impl<T, P: Passage<T>> Future for Receiving<'_, T, P> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.receiver.poll_recv(cx)
    }
}

impl<T, P: Passage<T>> Drop for Receiving<'_, T, P> {
    fn drop(&mut self) {
        self.receiver.consumer.unpark();
    }
}

pub(super) struct Batching<'a, T, P: Passage<T>> {
    pub(super) receiver: &'a mut Receiver<T, P>,
    pub(super) out: &'a mut Vec<T>,
    pub(super) max: usize,
}

impl<T, P: Passage<T>> Future for Batching<'_, T, P> {
    type Output = usize;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<usize> {
        let Self { receiver, out, max } = &mut *self;
        if *max == 0 || !ready!(receiver.consumer.poll_ready(cx)) {
            return Poll::Ready(0);
        }
        let drained = receiver.fold(*max, (), |(), value| out.push(value));
        Poll::Ready(drained.consumed)
    }
}

impl<T, P: Passage<T>> Drop for Batching<'_, T, P> {
    fn drop(&mut self) {
        self.receiver.consumer.unpark();
    }
}

/// Ends when the channel is closed and empty.
impl<T, P: Passage<T>> Stream for Receiver<T, P> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.poll_recv(cx)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        if self.is_finished() {
            return (0, Some(0));
        }
        (0, None)
    }
}

impl<T, P: Passage<T>> FusedStream for Receiver<T, P> {
    fn is_terminated(&self) -> bool {
        self.is_finished()
    }
}

/// Nothing in it is pinned.
impl<T, P: Passage<T>> Unpin for Receiver<T, P> {}
