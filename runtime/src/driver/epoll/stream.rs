//! Reading and writing.
use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::net::{Shutdown, SocketAddr};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SendFlags};

use super::Epoll;
use super::source::Source;
use crate::driver::sockets;
use crate::driver::transfer::Transfer;
use crate::driver::uring::Flight;
use crate::io::{Chunk, IoBuf, Wait, Waiters};

/// A connected socket.
#[derive(Debug)]
pub(crate) struct Stream {
    source: Source,
}

impl Stream {
    /// Takes over a connected socket. It is registered when a call first has to wait.
    pub(crate) fn from_fd(driver: &Rc<Epoll>, fd: OwnedFd) -> io::Result<Self> {
        Ok(Self {
            source: Source::new(driver, fd),
        })
    }

    /// Connects to `addr`. Dropping the future closes the socket.
    pub(crate) async fn connect(driver: &Rc<Epoll>, addr: SocketAddr) -> io::Result<Self> {
        let stream = Self::from_fd(driver, sockets::stream(addr)?)?;
        let fd = stream.source.fd();
        match net::connect(fd, &addr) {
            Ok(()) => {}
            // Either way the kernel goes on alone.
            Err(Errno::INPROGRESS | Errno::INTR) => stream.connected().await?,
            Err(error) => return Err(error.into()),
        }
        rustix::io::ioctl_fionbio(fd, false)?;
        Ok(stream)
    }

    /// Waits until the handshake ends, and tells how.
    async fn connected(&self) -> io::Result<()> {
        let direction = self.source.write();
        direction.drained();
        let wait = Wait::new(&direction.waiters);
        poll_fn(|cx| {
            self.source
                .poll_io(cx, direction, &wait, sockets::connect_result)
        })
        .await
    }

    /// Reads into borrowed memory, or keeps the waker of the last caller.
    pub(crate) fn poll_read(
        &self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let wait = Wait::polled(&self.source.read().waiters);
        self.poll_recv_by(cx, &wait, buf.len(), |fd| {
            net::recv(fd, &mut *buf, RecvFlags::DONTWAIT).map(|(n, _)| n)
        })
    }

    /// Receives into a buffer of the shard, or keeps the waker of the last caller.
    pub(crate) fn poll_read_chunk(&self, cx: &mut Context<'_>) -> Poll<io::Result<Chunk>> {
        let wait = Wait::polled(&self.source.read().waiters);
        let buffer = Wait::polled(self.source.driver().pool.returned());
        self.poll_recv_chunk(cx, &wait, &buffer)
    }

    /// Writes from borrowed memory, or keeps the waker of the last caller.
    pub(crate) fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_send_now(cx, &Wait::polled(&self.source.write().waiters), bytes)
    }

    /// Receives into a buffer of the shard.
    pub(crate) async fn read_chunk(&self) -> io::Result<Chunk> {
        let wait = Wait::new(&self.source.read().waiters);
        let buffer = Wait::new(self.source.driver().pool.returned());
        poll_fn(|cx| self.poll_recv_chunk(cx, &wait, &buffer)).await
    }

    /// Ends one direction, or both.
    pub(crate) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        sockets::shutdown(self.source.fd(), how)
    }

    /// Sends small writes at once, or collects them (Nagle).
    pub(crate) fn set_nodelay(&self, on: bool) -> io::Result<()> {
        Ok(net::sockopt::set_tcp_nodelay(self.source.fd(), on)?)
    }

    /// The address of this end.
    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        sockets::local_addr(self.source.fd())
    }

    /// The address of the other end.
    pub(crate) fn peer_addr(&self) -> io::Result<SocketAddr> {
        sockets::peer_addr(self.source.fd())
    }

    /// Ends the registration and gives the socket away.
    pub(crate) fn into_fd(self) -> io::Result<OwnedFd> {
        Ok(self.source.into_fd())
    }

    /// Receives up to `room` bytes by `recv`.
    fn poll_recv_by(
        &self,
        cx: &mut Context<'_>,
        wait: &Wait<'_>,
        room: usize,
        recv: impl FnMut(BorrowedFd<'_>) -> Result<usize, Errno>,
    ) -> Poll<io::Result<usize>> {
        if room == 0 {
            return Poll::Ready(Ok(0));
        }
        let direction = self.source.read();
        let n = ready!(self.source.poll_io(cx, direction, wait, recv))?;
        self.source.driver().counters.inline_io.add(1);
        // Less than asked for: the socket is empty, and asking again would be a call for nothing.
        // No bytes are the end, which needs no event to be found again.
        if 0 < n && n < room {
            direction.drained();
        }
        Poll::Ready(Ok(n))
    }

    fn poll_recv_chunk(
        &self,
        cx: &mut Context<'_>,
        wait: &Wait<'_>,
        buffer: &Wait<'_>,
    ) -> Poll<io::Result<Chunk>> {
        let driver = self.source.driver();
        let pool = &driver.pool;
        if !self.source.read().is_ready() {
            return self.source.poll_pending(cx, wait);
        }
        let Some(id) = pool.take() else {
            driver.counters.buffers_exhausted.add(1);
            buffer.wait(cx.waker());
            return Poll::Pending;
        };
        let received = self.poll_recv_by(cx, wait, pool.slot_bytes(), |fd| {
            pool.fill(id, |slot| {
                net::recv(fd, slot, RecvFlags::DONTWAIT).map(|(n, _)| n)
            })
        });
        match received {
            Poll::Ready(Ok(n)) if n > 0 => Poll::Ready(Ok(pool.chunk(id, n))),
            nothing => {
                pool.give_back(id);
                nothing.map_ok(|_| Chunk::end())
            }
        }
    }

    fn poll_send_now(
        &self,
        cx: &mut Context<'_>,
        wait: &Wait<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let sent = self.source.poll_io(cx, self.source.write(), wait, |fd| {
            net::send(fd, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)
        });
        let n = ready!(sent)?;
        self.source.driver().counters.inline_io.add(1);
        Poll::Ready(Ok(n))
    }
}

impl Transfer for Stream {
    fn readers(&self) -> &Waiters {
        &self.source.read().waiters
    }

    fn writers(&self) -> &Waiters {
        &self.source.write().waiters
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        wait: &Wait<'_>,
        room: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>> {
        self.poll_recv_by(cx, wait, room.len(), |fd| {
            net::recv(fd, &mut *room, RecvFlags::DONTWAIT).map(|(_, n)| n)
        })
    }

    fn poll_send(
        &self,
        cx: &mut Context<'_>,
        wait: &Wait<'_>,
        _flight: &mut Option<Flight>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_send_now(cx, wait, bytes)
    }

    fn abandon(&self, _flight: Flight, _buf: impl IoBuf) {
        unreachable!("no send is ever in flight here");
    }
}
