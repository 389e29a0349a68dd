//! A connected socket: the handle, and what handle and operations in flight share.

use std::cell::{Cell, RefCell};
use std::io;
use std::mem::MaybeUninit;
use std::net::{Shutdown, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use io_uring::{opcode, types::Fd};
use rustix::event::PollFlags;
use rustix::net::sockopt;

use super::driver::{Op, Uring};
use super::receive::End;
use super::send::{Flight, SendState};
use super::slots::Key;
use super::stash::Stash;
use crate::driver::sockets;
use crate::driver::transfer::Transfer;
use crate::io::{Chunk, IoBuf, Wait, Waiters};

/// How often `into_fd` lets the kernel finish before it gives up, and how long each time.
const RELEASE_ROUNDS: u32 = 50;
const RELEASE_WAIT: Duration = Duration::from_millis(20);

/// A connected socket. Dropping it cancels what is in flight; the descriptor closes when the kernel
/// is done with it.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(super) socket: Rc<Socket>,
}

/// What a stream and its operations in flight share. The last of them closes the descriptor.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) driver: Rc<Uring>,
    pub(super) fd: OwnedFd,
    /// Whether the handle is alive: without it, what arrives is dropped.
    pub(super) open: Cell<bool>,
    /// The multishot receive in flight.
    pub(super) receive: Cell<Option<Key>>,
    /// Whether that receive has been asked to end.
    pub(super) receive_ends: Cell<bool>,
    /// The poll for bytes in flight.
    pub(super) readable: Cell<Option<Key>>,
    /// For how many more small pieces the stream counts as one of pieces larger than a receive
    /// buffer.
    pub(super) bulk: Cell<u8>,
    /// How many receives at once are left out, since the last one found nothing.
    pub(super) skips: Cell<u8>,
    /// Whether a poll has said that there are bytes.
    pub(super) polled: Cell<bool>,
    /// Whether this is the shard's hot stream.
    pub(super) hot: Cell<bool>,
    /// Chunks that arrived and were not read yet.
    pub(super) stash: RefCell<Stash>,
    /// What comes behind the stash.
    pub(super) end: Cell<End>,
    /// Whether the socket waits for a receive buffer.
    pub(super) starved: Cell<bool>,
    pub(super) readers: Waiters,
    pub(super) send: Cell<SendState>,
    /// The poll for room in flight.
    pub(super) writable: Cell<Option<Key>>,
    pub(super) writers: Waiters,
}

impl Socket {
    fn new(driver: &Rc<Uring>, fd: OwnedFd) -> Rc<Self> {
        Rc::new(Self {
            driver: Rc::clone(driver),
            fd,
            open: Cell::new(true),
            receive: Cell::new(None),
            receive_ends: Cell::new(false),
            readable: Cell::new(None),
            bulk: Cell::new(0),
            skips: Cell::new(0),
            polled: Cell::new(false),
            hot: Cell::new(false),
            stash: RefCell::default(),
            end: Cell::new(End::Open),
            starved: Cell::new(false),
            readers: Waiters::default(),
            send: Cell::new(SendState::Idle),
            writable: Cell::new(None),
            writers: Waiters::default(),
        })
    }

    pub(super) fn raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// Starts a one-shot poll for `events`.
    pub(super) fn poll_once(&self, op: Op, events: PollFlags) -> io::Result<Key> {
        let poll = opcode::PollAdd::new(Fd(self.raw_fd()), u32::from(events.bits()));
        self.driver.start(op, poll.build())
    }

    /// Asks for the end of everything in flight.
    fn cancel(&self) {
        let send = match self.send.get() {
            SendState::Flight(key) => Some(key),
            SendState::Idle | SendState::Done(..) => None,
        };
        let keys = [
            self.receive.get(),
            self.readable.get(),
            self.writable.get(),
            send,
        ];
        for key in keys.into_iter().flatten() {
            self.driver.cancel(key);
        }
    }
}

impl Stream {
    /// Takes over a connected stream socket.
    pub(crate) fn from_fd(driver: &Rc<Uring>, fd: OwnedFd) -> io::Result<Self> {
        // Inline calls say MSG_DONTWAIT themselves, and the ring polls where it must wait.
        rustix::io::ioctl_fionbio(&fd, false)?;
        Ok(Self {
            socket: Socket::new(driver, fd),
        })
    }

    /// Takes over a socket that is in blocking mode, as accepted ones are.
    pub(super) fn accepted(driver: &Rc<Uring>, fd: OwnedFd) -> Self {
        Self {
            socket: Socket::new(driver, fd),
        }
    }

    /// Connects to `addr`. Dropping the future closes the socket.
    pub(crate) async fn connect(driver: &Rc<Uring>, addr: SocketAddr) -> io::Result<Self> {
        let fd = sockets::stream(addr)?;
        let connecting = rustix::net::connect(&fd, &addr);
        let stream = Self {
            socket: Socket::new(driver, fd),
        };
        match connecting {
            Ok(()) => {}
            Err(rustix::io::Errno::INPROGRESS) => {
                stream.socket.wait_writable().await?;
                sockets::connect_result(stream.socket.fd.as_fd())?;
            }
            Err(error) => return Err(error.into()),
        }
        rustix::io::ioctl_fionbio(&stream.socket.fd, false)?;
        Ok(stream)
    }

    /// Reads into borrowed memory, or keeps the waker.
    pub(crate) fn poll_read(
        &self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        self.socket
            .poll_read(&Wait::polled(&self.socket.readers), cx, buf)
    }

    /// Receives into a buffer of the shard, or keeps the waker.
    pub(crate) fn poll_read_chunk(&self, cx: &mut Context<'_>) -> Poll<io::Result<Chunk>> {
        self.socket
            .poll_read_chunk(&Wait::polled(&self.socket.readers), cx)
    }

    /// Writes from borrowed memory, or keeps the waker.
    pub(crate) fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.socket
            .poll_write(&Wait::polled(&self.socket.writers), cx, bytes)
    }

    /// Receives into a buffer of the shard.
    pub(crate) async fn read_chunk(&self) -> io::Result<Chunk> {
        let wait = Wait::new(&self.socket.readers);
        std::future::poll_fn(|cx| self.socket.poll_read_chunk(&wait, cx)).await
    }

    /// Ends one direction, or both.
    pub(crate) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        sockets::shutdown(self.socket.fd.as_fd(), how)
    }

    /// Sends small writes at once, or collects them (Nagle).
    pub(crate) fn set_nodelay(&self, on: bool) -> io::Result<()> {
        Ok(sockopt::set_tcp_nodelay(&self.socket.fd, on)?)
    }

    /// The address of this end.
    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        sockets::local_addr(self.socket.fd.as_fd())
    }

    /// The address of the other end.
    pub(crate) fn peer_addr(&self) -> io::Result<SocketAddr> {
        sockets::peer_addr(self.socket.fd.as_fd())
    }

    /// Takes the socket out of the driver, after the kernel has ended what is in flight on it (at
    /// most a second).
    ///
    /// # Errors
    ///
    /// `ResourceBusy` when bytes were received that nobody has read (they would be lost), or when
    /// the kernel does not end an operation in time; the socket is closed then.
    pub(crate) fn into_fd(self) -> io::Result<OwnedFd> {
        let socket = Rc::clone(&self.socket);
        socket.cancel();
        for _ in 0..RELEASE_ROUNDS {
            if !socket.in_flight() {
                break;
            }
            socket.driver.reap_for(RELEASE_WAIT)?;
        }
        let unread = socket.stash.borrow().chunks() > 0;
        drop(self);
        if unread {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        match Rc::try_unwrap(socket) {
            Ok(socket) => Ok(socket.fd),
            Err(_) => Err(io::ErrorKind::ResourceBusy.into()),
        }
    }
}

impl Transfer for Stream {
    fn readers(&self) -> &Waiters {
        &self.socket.readers
    }

    fn writers(&self) -> &Waiters {
        &self.socket.writers
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        wait: &Wait<'_>,
        room: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>> {
        self.socket.poll_into(wait, cx, room)
    }

    fn poll_send(
        &self,
        cx: &mut Context<'_>,
        wait: &Wait<'_>,
        flight: &mut Option<Flight>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.socket.poll_send(wait, cx, flight, bytes)
    }

    fn abandon(&self, flight: Flight, buf: impl IoBuf) {
        self.socket.abandon(flight, buf);
    }
}

impl Socket {
    fn in_flight(&self) -> bool {
        let polls = [self.receive.get(), self.readable.get(), self.writable.get()];
        matches!(self.send.get(), SendState::Flight(_)) || polls.iter().any(Option::is_some)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.socket.open.set(false);
        self.socket.cancel();
        self.socket.driver.forget_starved(&self.socket);
        self.socket.driver.forget_hot(&self.socket);
        // The chunks give their buffers back, which may wake others: without the borrow.
        let stash = self.socket.stash.take();
        drop(stash);
    }
}
