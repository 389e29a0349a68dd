//! A connection as its handler has it.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::ops::Deref;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use corelane::net::TcpStream;

use super::roster::Roster;

/// A connection that a carrier serves: a [`TcpStream`] that knows its peer and when to close.
///
/// ```
/// use std::time::Duration;
/// use corelane::net::TcpStream;
/// use corelane_net::Tcp;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # corelane::Runtime::builder().run(|| async {
/// // Holds the connection until the server closes, and says so.
/// let mut binding = Tcp::bind("127.0.0.1:0").serve(|conn| async move {
///     conn.closing().await;
///     if let (Err(error), _) = conn.write_all("bye").await {
///         eprintln!("{}: {error}", conn.peer());
///     }
/// })?;
/// let client = TcpStream::connect(binding.local_addr()).await?;
/// // A connection that the kernel has made is not yet accepted.
/// while binding.stats().total.accepted == 0 {
///     corelane::task::yield_now().await;
/// }
/// binding.close(Duration::from_secs(5)).await?;
/// assert_eq!(&client.read_chunk().await?[..], b"bye");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// # })??;
/// # Ok(())
/// # }
/// ```
pub struct Connection {
    stream: TcpStream,
    peer: SocketAddr,
    roster: Rc<Roster>,
}

impl Connection {
    pub(super) fn new(stream: TcpStream, peer: SocketAddr, roster: Rc<Roster>) -> Self {
        Self {
            stream,
            peer,
            roster,
        }
    }

    /// The address of the other end.
    #[must_use]
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// The address of this end.
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn local(&self) -> io::Result<SocketAddr> {
        self.stream.local_addr()
    }

    /// Ready when the carrier closes: what is served then should come to its end.
    ///
    /// The future owns what it needs and may outlive the connection.
    ///
    /// # Cancel safety
    ///
    /// It may be dropped and asked for again at any time.
    pub fn closing(&self) -> Closing {
        Closing {
            roster: Rc::clone(&self.roster),
            place: None,
        }
    }

    /// The stream alone, for what wants to own one.
    #[must_use]
    pub fn into_stream(self) -> TcpStream {
        self.stream
    }
}

impl Deref for Connection {
    type Target = TcpStream;

    fn deref(&self) -> &TcpStream {
        &self.stream
    }
}

/// For [`Compat::new`](corelane::io::Compat::new) and whatever else takes some kind of stream.
impl AsRef<TcpStream> for Connection {
    fn as_ref(&self) -> &TcpStream {
        &self.stream
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("peer", &self.peer)
            .finish_non_exhaustive()
    }
}

/// Waits for the close; see [`Connection::closing`].
#[must_use = "a future does nothing until it is awaited"]
pub struct Closing {
    roster: Rc<Roster>,
    /// Its waker's place in the roster.
    place: Option<u64>,
}

impl Future for Closing {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.roster.is_closing() {
            return Poll::Ready(());
        }
        self.place = Some(self.roster.wait(self.place, cx.waker()));
        Poll::Pending
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            self.roster.wait_no_more(place);
        }
    }
}

impl fmt::Debug for Closing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closing").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Waker;

    use super::*;

    #[test]
    fn a_wait_for_the_close_that_is_given_up_leaves_nothing_behind() {
        let roster = Rc::<Roster>::default();
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..3 {
            let closing = || Closing {
                roster: Rc::clone(&roster),
                place: None,
            };
            let (mut first, mut second) = (pin!(closing()), pin!(closing()));
            for _ in 0..2 {
                assert!(first.as_mut().poll(&mut cx).is_pending());
                assert!(second.as_mut().poll(&mut cx).is_pending());
                assert_eq!(roster.waiting(), 2);
            }
        }
        assert_eq!(roster.waiting(), 0);
    }
}
