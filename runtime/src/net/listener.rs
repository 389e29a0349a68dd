//! Accepting TCP connections.

use std::cell::Cell;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use rustix::io::Errno;

use super::{ListenOptions, TcpStream, ToAddr, budget};
use crate::driver::net::Listener;
use crate::shard::Context;
use crate::time::sleep;

/// The first pause of an accept for which descriptors or memory have run out; each further one is
/// twice as long.
const PAUSE_MIN: Duration = Duration::from_millis(5);

/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// A TCP socket that listens on one shard.
///
/// A service on every shard binds one listener a shard with
/// [`reuse_port`](ListenOptions::reuse_port), or accepts on one shard and sends the sockets on.
///
/// # Example
///
/// ```
/// use corelane::net::{TcpListener, TcpStream};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// corelane::Runtime::builder().run(|| async {
///     let listener = TcpListener::bind("127.0.0.1:0")?;
///     let client = TcpStream::connect(listener.local_addr()?).await?;
///     let (server, peer) = listener.accept().await?;
///     assert_eq!(peer, client.local_addr()?);
///     client.write_all("hello").await.0?;
///     assert_eq!(&server.read_chunk().await?[..], b"hello");
///     Ok::<_, std::io::Error>(())
/// })??;
/// # Ok(())
/// # }
/// ```
pub struct TcpListener {
    inner: Listener,
    /// How long the next accept pauses that finds descriptors or memory run out.
    pause: Cell<Duration>,
}

impl TcpListener {
    /// Listens on `addr` with the default [`ListenOptions`]. Port 0 lets the kernel choose.
    ///
    /// # Errors
    ///
    /// As [`TcpListener::bind_with`].
    ///
    /// # Panics
    ///
    /// Outside of a shard.
    pub fn bind(addr: impl ToAddr) -> io::Result<Self> {
        Self::bind_with(addr, &ListenOptions::new())
    }

    /// Listens on `addr` as `options` say. Costs a few system calls and never waits.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for text that is no address; else what the kernel says: `AddrInUse` for a
    /// taken port, `AddrNotAvailable` for an address that this machine does not have,
    /// `PermissionDenied` for a low port.
    ///
    /// # Panics
    ///
    /// Outside of a shard.
    pub fn bind_with(addr: impl ToAddr, options: &ListenOptions) -> io::Result<Self> {
        let addr = addr.to_addr()?;
        let inner = Context::with(|context| Listener::bind(context.driver(), addr, options))?;
        Ok(Self {
            inner,
            pause: Cell::new(PAUSE_MIN),
        })
    }

    /// The address that it listens on, with the port that the kernel chose.
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }

    /// Takes the next connection, and tells where it comes from.
    ///
    /// While descriptors or memory have run out (`EMFILE`, `ENFILE`, `ENOBUFS`, `ENOMEM`) this
    /// waits 5 ms and tries again, then twice as long, up to a second, until there are some; the
    /// first pause is logged, each is counted. A connection that broke while it waited is passed
    /// over.
    ///
    /// # Errors
    ///
    /// What the kernel says of the listener itself: it is of no more use.
    ///
    /// # Cancel safety
    ///
    /// A dropped future takes no connection: it stays for the next call.
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        loop {
            budget().await;
            let error = match self.inner.accept().await {
                Ok((stream, peer)) => {
                    self.pause.set(PAUSE_MIN);
                    return Ok((TcpStream::new(stream), peer));
                }
                Err(error) => error,
            };
            match Fault::of(&error) {
                Fault::Connection => {}
                Fault::Resource => self.back_off(&error).await,
                Fault::Listener => return Err(error),
            }
        }
    }

    async fn back_off(&self, error: &io::Error) {
        let pause = self.pause.get();
        self.pause.set((pause * 2).min(PAUSE_MAX));
        Context::with(|context| context.counters().accept_backoffs.add(1));
        if pause == PAUSE_MIN {
            tracing::warn!(%error, "accepting waits until descriptors and memory are free again");
        }
        sleep(pause).await;
    }
}

impl fmt::Debug for TcpListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("TcpListener");
        if let Ok(addr) = self.local_addr() {
            shown.field("addr", &addr);
        }
        shown.finish_non_exhaustive()
    }
}

/// Whose fault a refused accept is.
#[derive(Debug, PartialEq, Eq)]
enum Fault {
    /// That connection's: the next one may be whole.
    Connection,
    /// The process's or the machine's: it passes.
    Resource,
    /// The listener's.
    Listener,
}

impl Fault {
    fn of(error: &io::Error) -> Self {
        match Errno::from_io_error(error) {
            Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => Self::Resource,
            // Errors of the network that wait on the new connection (accept(2), "Error handling").
            Some(
                Errno::CONNABORTED
                | Errno::PROTO
                | Errno::NETDOWN
                | Errno::NOPROTOOPT
                | Errno::HOSTDOWN
                | Errno::NONET
                | Errno::HOSTUNREACH
                | Errno::NETUNREACH,
            ) => Self::Connection,
            _ => Self::Listener,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: RT-25
    #[test]
    fn each_error_has_its_culprit() {
        for (errno, fault) in [
            (Errno::MFILE, Fault::Resource),
            (Errno::NFILE, Fault::Resource),
            (Errno::NOBUFS, Fault::Resource),
            (Errno::NOMEM, Fault::Resource),
            (Errno::CONNABORTED, Fault::Connection),
            (Errno::HOSTUNREACH, Fault::Connection),
            (Errno::BADF, Fault::Listener),
            (Errno::INVAL, Fault::Listener),
        ] {
            assert_eq!(Fault::of(&errno.into()), fault, "{errno}");
        }
        assert_eq!(Fault::of(&io::ErrorKind::Other.into()), Fault::Listener);
    }
}
