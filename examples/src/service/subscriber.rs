//! One subscriber's connection.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::net::Shutdown;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use corelane::net::TcpStream;

use crate::feed::Outbox;

/// What waits for one subscriber, and whether it goes on.
#[derive(Debug, Default)]
pub(super) struct Subscriber {
    outbox: RefCell<Outbox>,
    state: Cell<State>,
    waker: RefCell<Option<Waker>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    /// Nothing more comes, and what waits is still sent.
    Ending,
    /// Nothing more is sent.
    Cut,
}

impl Subscriber {
    /// Adds whole lines; `false` when the subscriber is too far behind for them.
    pub(super) fn push(&self, lines: &[u8]) -> bool {
        let mut outbox = self.outbox.borrow_mut();
        let was_empty = outbox.is_empty();
        let fits = outbox.push(lines).is_ok();
        drop(outbox);
        if was_empty {
            self.wake();
        }
        fits
    }

    /// Ends the connection behind what waits.
    pub(super) fn end(&self) {
        self.change(State::Ending);
    }

    /// Ends the connection now.
    pub(super) fn cut(&self) {
        self.change(State::Cut);
    }

    fn change(&self, state: State) {
        self.state.set(state);
        self.wake();
    }

    fn wake(&self) {
        let waker = self.waker.borrow_mut().take();
        waker.into_iter().for_each(Waker::wake);
    }

    /// Sends what is pushed until the end, the cut, or until the other side has gone.
    ///
    /// A subscriber that closes its own direction has gone too: on a feed that rests nothing else
    /// would tell, and its socket would stay for ever.
    pub(super) async fn serve(&self, stream: TcpStream) {
        let (mut gone, mut sent) = (pin!(until_end(&stream)), pin!(self.send(&stream)));
        poll_fn(|cx| {
            if gone.as_mut().poll(cx).is_ready() {
                return Poll::Ready(());
            }
            sent.as_mut().poll(cx)
        })
        .await;
    }

    async fn send(&self, stream: &TcpStream) {
        let mut spent = Vec::new();
        while let Some(lines) = poll_fn(|cx| self.poll_lines(cx, &mut spent)).await {
            let mut write = pin!(stream.write_all(lines));
            let written = poll_fn(|cx| {
                self.keep_waker(cx);
                if self.state.get() == State::Cut {
                    return Poll::Ready(None);
                }
                write.as_mut().poll(cx).map(Some)
            })
            .await;
            match written {
                Some((Ok(()), buffer)) => spent = buffer,
                // Cut, or gone by itself.
                Some((Err(_), _)) | None => return,
            }
        }
        // It may have gone meanwhile; the connection closes either way.
        drop(stream.shutdown(Shutdown::Write));
    }

    /// Takes what waits; `None` when nothing is to be sent any more.
    fn poll_lines(&self, cx: &mut Context<'_>, spent: &mut Vec<u8>) -> Poll<Option<Vec<u8>>> {
        let mut outbox = self.outbox.borrow_mut();
        match self.state.get() {
            State::Cut => Poll::Ready(None),
            State::Open | State::Ending if !outbox.is_empty() => {
                Poll::Ready(Some(outbox.take(std::mem::take(spent))))
            }
            State::Ending => Poll::Ready(None),
            State::Open => {
                self.keep_waker(cx);
                Poll::Pending
            }
        }
    }

    fn keep_waker(&self, cx: &Context<'_>) {
        *self.waker.borrow_mut() = Some(cx.waker().clone());
    }
}

/// Reads and forgets what a subscriber sends, until it ends or breaks.
async fn until_end(stream: &TcpStream) {
    while let Ok(chunk) = stream.read_chunk().await {
        if chunk.is_empty() {
            break;
        }
    }
}
