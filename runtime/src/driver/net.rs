//! Sockets over the three backends.
//!
//! Every backend has a `Listener` and a `Stream` of its own with these names and signatures; the
//! enums here add one branch a call. `D` is the backend (`Uring`, `Epoll`, `SimDriver`):
//!
//! ```text
//! impl Listener {
//!     fn bind(driver: &Rc<D>, addr: SocketAddr, options: &ListenOptions) -> io::Result<Self>;
//!     fn local_addr(&self) -> io::Result<SocketAddr>;
//!     async fn accept(&self) -> io::Result<(Stream, SocketAddr)>;
//! }
//! impl Stream {
//!     fn from_fd(driver: &Rc<D>, fd: OwnedFd) -> io::Result<Self>;   // sim: Unsupported
//!     async fn connect(driver: &Rc<D>, addr: SocketAddr) -> io::Result<Self>;
//!     fn poll_read(&self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>>;
//!     fn poll_read_chunk(&self, cx: &mut Context<'_>) -> Poll<io::Result<Chunk>>; // empty: end
//!     fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>>;
//!     async fn read_chunk(&self) -> io::Result<Chunk>;
//!     fn shutdown(&self, how: Shutdown) -> io::Result<()>;
//!     fn set_nodelay(&self, on: bool) -> io::Result<()>;
//!     fn local_addr(&self) -> io::Result<SocketAddr>;
//!     fn peer_addr(&self) -> io::Result<SocketAddr>;
//!     fn into_fd(self) -> io::Result<OwnedFd>;                        // sim: Unsupported
//! }
//! impl Transfer for Stream { … }                                     // owned buffers
//! ```
//!
//! Rules for each:
//!
//! - A dropped future loses nothing: bytes that arrived stay for the next read, a connection that
//!   was accepted stays for the next accept. The `poll_` forms keep the waker of the last caller
//!   (one reader, one writer); the `async` forms may wait side by side, and each is woken.
//! - A read into a buffer without room and a write of no bytes give `Ok(0)` at once, without a
//!   system call. `Ok(0)` into a buffer with room is the end of the stream. After a read the
//!   buffer's `set_init(n)` was called; after an error it was not.
//! - `accept` gives every error of the kernel but `EINTR`, `EAGAIN` and `ECONNABORTED`; it is the
//!   caller (`net::TcpListener`) that backs off when descriptors or memory have run out, and a
//!   later call must find the connection that could not be accepted.
//! - Stream sockets are in blocking mode (inline calls say `MSG_DONTWAIT`), so that `into_fd` gives
//!   what std expects; all are close-on-exec, and a write to a closed peer is `EPIPE`, no signal.
//! - `bind` sets `SO_REUSEADDR`, and `TCP_NODELAY` unless the options ask for Nagle (accepted
//!   sockets inherit it); `connect` sets `TCP_NODELAY`.
//! - Receive and send at once where that can succeed, and count it (`inline_io`); wait for a
//!   receive buffer when the pool is empty, and count that (`buffers_exhausted`).

use std::io;
use std::mem::MaybeUninit;
use std::net::{Shutdown, SocketAddr};
use std::os::fd::OwnedFd;
use std::task::{Context, Poll};

use super::transfer::Transfer;
use super::uring::Flight;
use super::{Driver, epoll, sim, uring};
use crate::io::{Chunk, IoBuf, Wait, Waiters};
use crate::net::ListenOptions;

/// A listening socket of the shard's backend.
#[derive(Debug)]
pub(crate) enum Listener {
    /// On io_uring.
    Uring(uring::Listener),
    /// On epoll.
    Epoll(epoll::Listener),
    /// In a simulation.
    Sim(sim::Listener),
}

/// A connected socket of the shard's backend.
#[derive(Debug)]
pub(crate) enum Stream {
    /// On io_uring.
    Uring(uring::Stream),
    /// On epoll.
    Epoll(epoll::Stream),
    /// In a simulation.
    Sim(sim::Stream),
}

impl From<uring::Stream> for Stream {
    fn from(stream: uring::Stream) -> Self {
        Self::Uring(stream)
    }
}

impl From<epoll::Stream> for Stream {
    fn from(stream: epoll::Stream) -> Self {
        Self::Epoll(stream)
    }
}

impl From<sim::Stream> for Stream {
    fn from(stream: sim::Stream) -> Self {
        Self::Sim(stream)
    }
}

/// The same call on whichever backend it is.
macro_rules! each {
    ($socket:expr, $inner:ident => $call:expr) => {
        match $socket {
            Self::Uring($inner) => $call,
            Self::Epoll($inner) => $call,
            Self::Sim($inner) => $call,
        }
    };
}

impl Listener {
    /// Binds to `addr` and listens.
    pub(crate) fn bind(
        driver: &Driver,
        addr: SocketAddr,
        options: &ListenOptions,
    ) -> io::Result<Self> {
        match driver {
            Driver::Uring(driver) => uring::Listener::bind(driver, addr, options).map(Self::Uring),
            Driver::Epoll(driver) => epoll::Listener::bind(driver, addr, options).map(Self::Epoll),
            Driver::Sim(driver) => sim::Listener::bind(driver, addr, options).map(Self::Sim),
        }
    }

    /// The address that it listens on.
    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        each!(self, listener => listener.local_addr())
    }

    /// Takes the next connection.
    pub(crate) async fn accept(&self) -> io::Result<(Stream, SocketAddr)> {
        each!(self, listener => {
            listener.accept().await.map(|(stream, peer)| (stream.into(), peer))
        })
    }
}

impl Stream {
    /// Takes over a connected socket.
    pub(crate) fn from_fd(driver: &Driver, fd: OwnedFd) -> io::Result<Self> {
        match driver {
            Driver::Uring(driver) => uring::Stream::from_fd(driver, fd).map(Self::Uring),
            Driver::Epoll(driver) => epoll::Stream::from_fd(driver, fd).map(Self::Epoll),
            Driver::Sim(driver) => sim::Stream::from_fd(driver, fd).map(Self::Sim),
        }
    }

    /// Connects to `addr`.
    pub(crate) async fn connect(driver: &Driver, addr: SocketAddr) -> io::Result<Self> {
        match driver {
            Driver::Uring(driver) => uring::Stream::connect(driver, addr).await.map(Self::Uring),
            Driver::Epoll(driver) => epoll::Stream::connect(driver, addr).await.map(Self::Epoll),
            Driver::Sim(driver) => sim::Stream::connect(driver, addr).await.map(Self::Sim),
        }
    }

    /// Reads into borrowed memory, or keeps the waker.
    pub(crate) fn poll_read(
        &self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        each!(self, stream => stream.poll_read(cx, buf))
    }

    /// Receives into a buffer of the shard, or keeps the waker.
    pub(crate) fn poll_read_chunk(&self, cx: &mut Context<'_>) -> Poll<io::Result<Chunk>> {
        each!(self, stream => stream.poll_read_chunk(cx))
    }

    /// Writes from borrowed memory, or keeps the waker.
    pub(crate) fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        each!(self, stream => stream.poll_write(cx, bytes))
    }

    /// Receives into a buffer of the shard.
    pub(crate) async fn read_chunk(&self) -> io::Result<Chunk> {
        each!(self, stream => stream.read_chunk().await)
    }

    /// Ends one direction, or both.
    pub(crate) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        each!(self, stream => stream.shutdown(how))
    }

    /// Sends small writes at once, or collects them (Nagle).
    pub(crate) fn set_nodelay(&self, on: bool) -> io::Result<()> {
        each!(self, stream => stream.set_nodelay(on))
    }

    /// The address of this end.
    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        each!(self, stream => stream.local_addr())
    }

    /// The address of the other end.
    pub(crate) fn peer_addr(&self) -> io::Result<SocketAddr> {
        each!(self, stream => stream.peer_addr())
    }

    /// Takes the socket out of the driver.
    pub(crate) fn into_fd(self) -> io::Result<OwnedFd> {
        each!(self, stream => stream.into_fd())
    }
}

impl Transfer for Stream {
    fn readers(&self) -> &Waiters {
        each!(self, stream => stream.readers())
    }

    fn writers(&self) -> &Waiters {
        each!(self, stream => stream.writers())
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        wait: &Wait<'_>,
        room: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>> {
        each!(self, stream => stream.poll_recv(cx, wait, room))
    }

    fn poll_send(
        &self,
        cx: &mut Context<'_>,
        wait: &Wait<'_>,
        flight: &mut Option<Flight>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        each!(self, stream => stream.poll_send(cx, wait, flight, bytes))
    }

    fn abandon(&self, flight: Flight, buf: impl IoBuf) {
        each!(self, stream => stream.abandon(flight, buf));
    }
}
