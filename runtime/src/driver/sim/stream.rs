//! Reading and writing in a simulated world.

use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::net::{Shutdown, SocketAddr};
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use rustix::io::Errno;

use super::SimDriver;
use super::connection::{End, Side, Waits};
use super::network::Segment;
use crate::driver::transfer::Transfer;
use crate::driver::uring::Flight;
use crate::io::{Chunk, IoBuf, Wait, Waiters};
use crate::task::wake_all;

/// The most bytes of one segment.
const SEGMENT_BYTES_MAX: u64 = 1460;
/// One segment in so many is short.
const SHORT_ONE_IN: u64 = 4;
/// The most bytes of a short one.
const SHORT_BYTES_MAX: u64 = 16;

/// A connected socket.
#[derive(Debug)]
pub(crate) struct Stream {
    driver: Rc<SimDriver>,
    connection: u64,
    side: Side,
    waits: Rc<Waits>,
}

impl Stream {
    pub(super) fn new(driver: &Rc<SimDriver>, connection: u64, side: Side) -> io::Result<Self> {
        let mut network = driver.world.network().borrow_mut();
        let end = network.end(connection, side).ok_or(Errno::NOTCONN)?;
        let waits = Rc::clone(&end.waits);
        Ok(Self {
            driver: Rc::clone(driver),
            connection,
            side,
            waits,
        })
    }

    /// Refuses: a simulation has no descriptors.
    ///
    /// # Errors
    ///
    /// Always `Unsupported`.
    pub(crate) fn from_fd(_driver: &Rc<SimDriver>, _fd: OwnedFd) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Connects to `addr`. Dropping the future gives the attempt up.
    ///
    /// # Errors
    ///
    /// `ECONNREFUSED` when nobody listens there, `ETIMEDOUT` when the backlog stays full for two
    /// minutes, `EADDRNOTAVAIL` when all ports are taken.
    pub(crate) async fn connect(driver: &Rc<SimDriver>, addr: SocketAddr) -> io::Result<Self> {
        let world = &driver.world;
        let connection = world
            .network()
            .borrow_mut()
            .connect(world, driver.shard, addr)?;
        let stream = Self::new(driver, connection, Side::Client)?;
        let wait = Wait::new(&stream.waits.write);
        poll_fn(|cx| {
            stream.poll_end(cx, &wait, |end| match end.fault.take() {
                Some(fault) => Some(Err(fault)),
                None => (!end.is_opening).then_some(Ok(())),
            })
        })
        .await?;
        drop(wait);
        Ok(stream)
    }

    /// Reads into borrowed memory, or keeps the waker of the last caller.
    pub(crate) fn poll_read(
        &self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let wait = Wait::polled(&self.waits.read);
        self.poll_recv_by(cx, &wait, buf.len(), |bytes| {
            let n = bytes.len().min(buf.len());
            buf[..n].copy_from_slice(&bytes[..n]);
            n
        })
    }

    /// Receives into a buffer of the shard, or keeps the waker of the last caller.
    pub(crate) fn poll_read_chunk(&self, cx: &mut Context<'_>) -> Poll<io::Result<Chunk>> {
        let wait = Wait::polled(&self.waits.read);
        let buffer = Wait::polled(self.driver.pool.returned());
        self.poll_recv_chunk(cx, &wait, &buffer)
    }

    /// Writes from borrowed memory, or keeps the waker of the last caller.
    pub(crate) fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_send_now(cx, &Wait::polled(&self.waits.write), bytes)
    }

    /// Receives into a buffer of the shard.
    pub(crate) async fn read_chunk(&self) -> io::Result<Chunk> {
        let wait = Wait::new(&self.waits.read);
        let buffer = Wait::new(self.driver.pool.returned());
        poll_fn(|cx| self.poll_recv_chunk(cx, &wait, &buffer)).await
    }

    /// Ends one direction, or both.
    ///
    /// # Errors
    ///
    /// `ENOTCONN` when the other end has reset the connection.
    pub(crate) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        let world = &self.driver.world;
        let mut woken = Vec::new();
        let mut network = world.network().borrow_mut();
        let end = network
            .end(self.connection, self.side)
            .ok_or(Errno::NOTCONN)?;
        if end.is_dead {
            return Err(Errno::NOTCONN.into());
        }
        if how != Shutdown::Write {
            end.is_read_shut = true;
            end.waits.read.drain_into(&mut woken);
        }
        if how != Shutdown::Read && !end.is_write_shut {
            end.is_write_shut = true;
            end.waits.write.drain_into(&mut woken);
            network.send(world, self.connection, self.side.other(), Segment::Fin);
        }
        drop(network);
        wake_all(woken);
        Ok(())
    }

    /// Changes nothing: segments are split by chance here.
    pub(crate) fn set_nodelay(&self, _on: bool) -> io::Result<()> {
        Ok(())
    }

    /// The address of this end.
    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.addr(|end| end.local)
    }

    /// The address of the other end.
    pub(crate) fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.addr(|end| end.peer)
    }

    /// Refuses: a simulation has no descriptors.
    ///
    /// # Errors
    ///
    /// Always `Unsupported`.
    pub(crate) fn into_fd(self) -> io::Result<OwnedFd> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn addr(&self, which: impl FnOnce(&End) -> SocketAddr) -> io::Result<SocketAddr> {
        let mut network = self.driver.world.network().borrow_mut();
        let end = network
            .end(self.connection, self.side)
            .ok_or(Errno::NOTCONN)?;
        Ok(which(end))
    }

    /// Asks the end for an answer, and waits when it has none.
    fn poll_end<T>(
        &self,
        cx: &mut Context<'_>,
        wait: &Wait<'_>,
        answer: impl FnOnce(&mut End) -> Option<Result<T, Errno>>,
    ) -> Poll<io::Result<T>> {
        let mut network = self.driver.world.network().borrow_mut();
        let end = network
            .end(self.connection, self.side)
            .ok_or(Errno::NOTCONN)?;
        let answer = answer(end);
        drop(network);
        if let Some(answer) = answer {
            return Poll::Ready(Ok(answer?));
        }
        self.driver.check_open()?;
        wait.wait(cx.waker());
        Poll::Pending
    }

    /// Takes received bytes out with `copy`, which says how many it took.
    fn poll_recv_by(
        &self,
        cx: &mut Context<'_>,
        wait: &Wait<'_>,
        room: usize,
        copy: impl FnOnce(&[u8]) -> usize,
    ) -> Poll<io::Result<usize>> {
        if room == 0 {
            return Poll::Ready(Ok(0));
        }
        let n = ready!(self.poll_end(cx, wait, |end| {
            if !end.received.is_empty() {
                // The part up to the ring's end alone: a short read, as any read may be.
                let n = copy(end.received.as_slices().0);
                end.received.drain(..n);
                return Some(Ok(n));
            }
            if let Some(fault) = end.fault.take() {
                return Some(Err(fault));
            }
            (end.has_ended || end.is_read_shut || end.is_dead).then_some(Ok(0))
        }))?;
        self.driver.counters.inline_io.add(1);
        if n > 0 {
            let world = &self.driver.world;
            let mut network = world.network().borrow_mut();
            network.send(world, self.connection, self.side.other(), Segment::Room(n));
        }
        Poll::Ready(Ok(n))
    }

    fn poll_recv_chunk(
        &self,
        cx: &mut Context<'_>,
        wait: &Wait<'_>,
        buffer: &Wait<'_>,
    ) -> Poll<io::Result<Chunk>> {
        let pool = &self.driver.pool;
        let Some(id) = pool.take() else {
            self.driver.check_open()?;
            self.driver.counters.buffers_exhausted.add(1);
            buffer.wait(cx.waker());
            return Poll::Pending;
        };
        let received = self.poll_recv_by(cx, wait, pool.slot_bytes(), |bytes| {
            pool.fill(id, |slot| {
                let n = bytes.len().min(slot.len());
                slot[..n].copy_from_slice(&bytes[..n]);
                n
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
        let n = ready!(self.poll_end(cx, wait, |end| {
            if let Some(fault) = end.fault.take() {
                return Some(Err(fault));
            }
            if end.is_dead || end.is_write_shut {
                return Some(Err(Errno::PIPE));
            }
            let n = bytes.len().min(end.room);
            end.room -= n;
            (n > 0).then_some(Ok(n))
        }))?;
        self.driver.counters.inline_io.add(1);
        self.send_segments(&bytes[..n]);
        Poll::Ready(Ok(n))
    }

    /// Sends bytes in segments of a length by chance.
    fn send_segments(&self, mut bytes: &[u8]) {
        let world = &self.driver.world;
        let random = world.random();
        let mut network = world.network().borrow_mut();
        while !bytes.is_empty() {
            let is_short = random.once_in(SHORT_ONE_IN);
            let longest = if is_short {
                SHORT_BYTES_MAX
            } else {
                SEGMENT_BYTES_MAX
            };
            let n = bytes.len().min(1 + random.below(longest) as usize);
            let (segment, rest) = bytes.split_at(n);
            let data = Segment::Data(segment.to_vec());
            network.send(world, self.connection, self.side.other(), data);
            bytes = rest;
        }
    }
}

impl Transfer for Stream {
    fn readers(&self) -> &Waiters {
        &self.waits.read
    }

    fn writers(&self) -> &Waiters {
        &self.waits.write
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        wait: &Wait<'_>,
        room: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>> {
        self.poll_recv_by(cx, wait, room.len(), |bytes| {
            let n = bytes.len().min(room.len());
            for (place, byte) in room.iter_mut().zip(bytes) {
                place.write(*byte);
            }
            n
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

impl Drop for Stream {
    fn drop(&mut self) {
        let world = &self.driver.world;
        let mut network = world.network().borrow_mut();
        let Some(end) = network.end(self.connection, self.side) else {
            return;
        };
        // As on Linux: unread bytes turn the orderly end into a reset. A second end, or one after a
        // reset, is ignored by the other side.
        let is_abrupt = end.is_opening || !end.received.is_empty();
        let last = if is_abrupt {
            Segment::Reset
        } else {
            Segment::Fin
        };
        network.close(world, self.connection, self.side, last);
    }
}
