//! A sender as a `Sink`.

use super::passage::Passage;
use super::send::Turn;
use super::sender::Sender;
use super::shared::{Credit, Shared};
use crate::{Closed, SendError};
use futures_sink::Sink;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// What a handle holds as a sink.
#[derive(Default)]
pub(super) struct Place {
    turn: Turn,
    /// Whether it holds a credit.
    is_reserved: bool,
    /// Whether it was closed, so that it counts as a sender no more.
    has_left: bool,
}

impl Place {
    #[inline]
    pub(super) fn has_left(&self) -> bool {
        self.has_left
    }

    /// What a clone of the handle holds.
    pub(super) fn fork(&self) -> Self {
        Self {
            has_left: self.has_left,
            ..Self::default()
        }
    }

    /// Gives everything back, and counts the handle out.
    pub(super) fn leave<T, P: Passage<T>>(&mut self, shared: &Shared<T, P>) {
        if std::mem::replace(&mut self.has_left, true) {
            return;
        }
        let mut panics = crate::panics::Panics::default();
        panics.run(|| self.turn.leave(shared));
        if std::mem::take(&mut self.is_reserved) {
            panics.run(|| shared.give(1));
        }
        panics.run(|| shared.remove_sender());
        panics.resume();
    }
}

/// `poll_ready` reserves one place, in its turn; `start_send` uses it, and the item can be received
/// at once. `poll_close` counts this handle out, as a drop would: the channel closes with the last.
///
/// A refused value comes back in the error; `None` when `poll_ready` finds the channel closed.
/// `start_send` without `poll_ready` takes a place if there is one that nobody waits for.
///
/// `SinkExt::close(&mut sender)` is this close, of one handle; [`Sender::close`] is that of the
/// channel.
impl<T, P: Passage<T>> Sink<T> for Sender<T, P> {
    type Error = SendError<Option<T>>;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        let Self { shared, place, run } = &mut *self;
        if place.has_left {
            return Poll::Ready(Err(SendError::Closed(None)));
        }
        if !place.is_reserved {
            let taken = ready!(place.turn.poll(shared, run, 1, cx));
            place.is_reserved = taken.is_ok();
            place.turn.leave(shared);
        }
        Poll::Ready(match shared.is_closed() {
            true => Err(SendError::Closed(None)),
            false => Ok(()),
        })
    }

    fn start_send(mut self: Pin<&mut Self>, value: T) -> Result<(), Self::Error> {
        let Self { shared, place, run } = &mut *self;
        let taken = if place.has_left {
            Credit::Closed
        } else if std::mem::take(&mut place.is_reserved) {
            Credit::Taken
        } else {
            shared.try_take(1, run)
        };
        match taken {
            Credit::Taken => shared
                .push(value)
                .map_err(|Closed(value)| SendError::Closed(Some(value))),
            Credit::Full => Err(SendError::Full(Some(value))),
            Credit::Closed => Err(SendError::Closed(Some(value))),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Result<(), Self::Error>> {
        let Self { shared, place, .. } = &mut *self;
        place.leave(shared);
        Poll::Ready(Ok(()))
    }
}

/// Nothing in it is pinned.
impl<T, P: Passage<T>> Unpin for Sender<T, P> {}
