//! One subscriber's connection.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::net::Shutdown;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use corelane::net::TcpStream;
use corelane::task::either;
use corelane::time::sleep;

use crate::feed::Outbox;

/// How often it is looked whether a subscriber is still there that has ended its own direction.
const LOOK_EVERY: Duration = Duration::from_secs(1);

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
    /// A subscriber that ends its own direction has not gone: it may have nothing to say, as in
    /// `socat - TCP:… </dev/null`. It has when a write fails or the connection has broken.
    pub(super) async fn serve(&self, stream: TcpStream) {
        either(until_broken(&stream), self.send(&stream)).await;
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

/// Reads and forgets what a subscriber sends, until the connection breaks.
async fn until_broken(stream: &TcpStream) {
    while let Ok(chunk) = stream.read_chunk().await {
        if !chunk.is_empty() {
            continue;
        }
        // Reads say no more from here on. A connection that was reset, or whose peer does not
        // answer the kernel's questions (see `accept`), has no peer any more.
        while stream.peer_addr().is_ok() {
            sleep(LOOK_EVERY).await;
        }
        return;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corelane::JoinHandle;
    use corelane::net::TcpListener;
    use rustix::net::sockopt::set_socket_linger;
    use std::io::{self, Read};
    use std::net::TcpStream as StdStream;
    use std::rc::Rc;

    /// Runs `test` with a subscriber that is served, and its client.
    fn with_one<F>(test: impl FnOnce(Rc<Subscriber>, StdStream, JoinHandle<()>) -> F + 'static)
    where
        F: Future<Output = io::Result<()>> + 'static,
    {
        let ran = corelane::Runtime::builder().shards(1).run(|| async {
            let listener = TcpListener::bind("127.0.0.1:0")?;
            let client = StdStream::connect(listener.local_addr()?)?;
            let (stream, _) = listener.accept().await?;
            let subscriber = Rc::new(Subscriber::default());
            let served = corelane::spawn({
                let subscriber = Rc::clone(&subscriber);
                async move { subscriber.serve(stream).await }
            });
            test(subscriber, client, served).await
        });
        ran.unwrap().unwrap();
    }

    #[test]
    fn one_that_says_nothing_more_is_served_on() {
        with_one(|subscriber, mut client, served| async move {
            client.shutdown(Shutdown::Write)?;
            // Long enough to be looked after.
            sleep(LOOK_EVERY + LOOK_EVERY / 2).await;
            assert!(!served.is_finished() && subscriber.push(b"still here\n"));
            subscriber.end();
            served.await.unwrap();
            let mut got = String::new();
            client.read_to_string(&mut got)?;
            assert_eq!(got, "still here\n");
            Ok(())
        });
    }

    #[test]
    fn one_that_resets_the_connection_has_gone() {
        for ends_first in [false, true] {
            with_one(move |_subscriber, client, served| async move {
                if ends_first {
                    client.shutdown(Shutdown::Write)?;
                }
                set_socket_linger(&client, Some(Duration::ZERO))?;
                drop(client);
                served.await.unwrap();
                Ok(())
            });
        }
    }

    #[test]
    fn one_that_has_closed_is_found_out_by_a_line() {
        with_one(|subscriber, client, served| async move {
            drop(client);
            assert!(subscriber.push(b"nobody reads this\n"));
            served.await.unwrap();
            Ok(())
        });
    }
}
