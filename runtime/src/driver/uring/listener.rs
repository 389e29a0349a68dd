//! Accepting: one multishot accept, and a queue of what it has accepted.
//!
//! Order: connections leave the queue in the order they came; a dropped accept takes none. A queue
//! that nobody empties ends its accept ([`QUEUE_MAX`]), so that the kernel's backlog holds the
//! rest; emptying it arms a new one.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::rc::Rc;
use std::task::{Context, Poll};

use io_uring::{opcode, types::Fd};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::SocketFlags;

use super::driver::{Op, Uring};
use super::slots::Key;
use super::stream::Stream;
use crate::driver::sockets;
use crate::io::{Wait, Waiters};
use crate::net::ListenOptions;

/// Accepted connections that a listener holds before it stops accepting.
const QUEUE_MAX: usize = 256;

/// A listening socket. Dropping it closes what it has accepted and nobody has taken.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(super) shared: Rc<Listening>,
}

/// What a listener and its accept in flight share.
#[derive(Debug)]
pub(super) struct Listening {
    driver: Rc<Uring>,
    fd: OwnedFd,
    open: Cell<bool>,
    pub(super) queue: RefCell<VecDeque<OwnedFd>>,
    /// What ended the last accept, to be told once.
    failed: Cell<Option<Errno>>,
    /// The accept in flight, or the poll for connections.
    pub(super) accept: Cell<Option<Key>>,
    accept_ends: Cell<bool>,
    acceptors: Waiters,
}

impl Listener {
    /// Binds to `addr` and listens.
    pub(crate) fn bind(
        driver: &Rc<Uring>,
        addr: SocketAddr,
        options: &ListenOptions,
    ) -> io::Result<Self> {
        let fd = sockets::listen(addr, options)?;
        // The one-shot way accepts until nothing is left, and must not block there; multishot polls
        // by itself.
        rustix::io::ioctl_fionbio(&fd, !driver.features().multishot_accept)?;
        let shared = Rc::new(Listening {
            driver: Rc::clone(driver),
            fd,
            open: Cell::new(true),
            queue: RefCell::default(),
            failed: Cell::new(None),
            accept: Cell::new(None),
            accept_ends: Cell::new(false),
            acceptors: Waiters::default(),
        });
        Ok(Self { shared })
    }

    /// The address that it listens on.
    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        sockets::local_addr(self.shared.fd.as_fd())
    }

    /// Takes the next connection.
    pub(crate) async fn accept(&self) -> io::Result<(Stream, SocketAddr)> {
        let wait = Wait::new(&self.shared.acceptors);
        poll_fn(|cx| self.shared.poll_accept(&wait, cx)).await
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.shared.open.set(false);
        if let Some(key) = self.shared.accept.get() {
            self.shared.driver.cancel(key);
        }
        self.shared.queue.take();
    }
}

impl Listening {
    fn poll_accept(
        self: &Rc<Self>,
        wait: &Wait<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<(Stream, SocketAddr)>> {
        match self.try_accept() {
            Ok(Some(accepted)) => Poll::Ready(Ok(accepted)),
            Ok(None) => {
                wait.wait(cx.waker());
                Poll::Pending
            }
            Err(error) => Poll::Ready(Err(error)),
        }
    }

    fn try_accept(self: &Rc<Self>) -> io::Result<Option<(Stream, SocketAddr)>> {
        loop {
            let queued = self.queue.borrow_mut().pop_front();
            let Some(fd) = queued else { break };
            if let Some(accepted) = self.connected(fd)? {
                return Ok(Some(accepted));
            }
        }
        if let Some(error) = self.failed.take() {
            return Err(error.into());
        }
        if self.accept.get().is_some() {
            return Ok(None);
        }
        if self.driver.features().multishot_accept {
            let accept = opcode::AcceptMulti::new(Fd(self.fd.as_raw_fd()));
            let accept = accept
                .flags(SocketFlags::CLOEXEC.bits().cast_signed())
                .build();
            let key = self.driver.start(Op::Accept(Rc::clone(self)), accept)?;
            self.accept.set(Some(key));
            self.accept_ends.set(false);
            return Ok(None);
        }
        self.accept_now()
    }

    /// Accepts at once, and polls when nothing is there.
    fn accept_now(self: &Rc<Self>) -> io::Result<Option<(Stream, SocketAddr)>> {
        loop {
            match rustix::net::accept_with(&self.fd, SocketFlags::CLOEXEC) {
                Ok(fd) => {
                    if let Some(accepted) = self.connected(fd)? {
                        return Ok(Some(accepted));
                    }
                }
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(Errno::AGAIN) => break,
                Err(error) => return Err(error.into()),
            }
        }
        let events = u32::from(PollFlags::IN.bits());
        let poll = opcode::PollAdd::new(Fd(self.fd.as_raw_fd()), events).build();
        self.accept.set(Some(
            self.driver.start(Op::Acceptable(Rc::clone(self)), poll)?,
        ));
        Ok(None)
    }

    /// A stream of an accepted descriptor; `None` when its peer has gone already.
    fn connected(&self, fd: OwnedFd) -> io::Result<Option<(Stream, SocketAddr)>> {
        match sockets::peer_addr(fd.as_fd()) {
            Ok(peer) => Ok(Some((Stream::accepted(&self.driver, fd), peer))),
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A multishot accept has a connection, or has ended.
    pub(super) fn accepted(&self, result: i32, last: bool) {
        if last {
            self.accept.set(None);
        }
        if result >= 0 {
            // SAFETY: Valid: a successful accept hands over an open descriptor. Exclusive: this
            // completion, delivered once, alone names it.
            let fd = unsafe { OwnedFd::from_raw_fd(result) };
            if self.open.get() {
                self.queue.borrow_mut().push_back(fd);
                self.limit_queue();
            }
        } else {
            match Errno::from_raw_os_error(-result) {
                // Asked for, or gone before it was taken: whoever accepts on arms again.
                Errno::CANCELED | Errno::INTR | Errno::AGAIN | Errno::CONNABORTED => {}
                error => self.failed.set(Some(error)),
            }
        }
        self.acceptors.wake_all();
    }

    /// Ends the accept of a queue that nobody empties.
    fn limit_queue(&self) {
        if let Some(key) = self.accept.get()
            && self.queue.borrow().len() >= QUEUE_MAX
            && !self.accept_ends.replace(true)
        {
            self.driver.cancel(key);
        }
    }

    /// A poll for connections has ended.
    pub(super) fn acceptable(&self) {
        self.accept.set(None);
        self.acceptors.wake_all();
    }
}
