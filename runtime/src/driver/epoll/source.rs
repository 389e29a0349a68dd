//! One registered socket: what the kernel said of it, who waits for it, and the call that waits.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use rustix::event::epoll::EventFlags;
use rustix::io::Errno;

use super::Epoll;
use super::table::Token;
use crate::io::{Wait, Waiters};

/// One direction of a socket, on a cache line of its own: what an event and the wait for it touch.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Direction {
    /// Whether a call may succeed: set by an event, taken back by a call that found nothing.
    ready: Cell<bool>,
    /// The kernel said that this direction ended, which it says once: calls never wait again.
    ended: Cell<bool>,
    pub(super) waiters: Waiters,
}

impl Direction {
    /// A call took all there was, so the next one waits for an event first. An end that was
    /// reported already will not be reported again, so then it does not wait.
    pub(super) fn drained(&self) {
        self.ready.set(self.ended.get());
    }

    /// Whether a call may succeed.
    pub(super) fn is_ready(&self) -> bool {
        self.ready.get()
    }

    fn mark(&self, ready: bool, ended: bool, woken: &mut Vec<Waker>) {
        if ended {
            self.ended.set(true);
        }
        if ready || ended {
            self.ready.set(true);
            self.waiters.drain_into(woken);
        }
    }
}

impl Default for Direction {
    /// Ready, since nothing is known: the first call tries.
    fn default() -> Self {
        Self {
            ready: Cell::new(true),
            ended: Cell::new(false),
            waiters: Waiters::default(),
        }
    }
}

/// Both directions of a socket.
#[derive(Debug, Default)]
pub(super) struct Readiness {
    pub(super) read: Direction,
    pub(super) write: Direction,
}

impl Readiness {
    /// Takes in an event and gives out who waited for it.
    pub(super) fn mark(&self, flags: EventFlags, woken: &mut Vec<Waker>) {
        let failed = flags.contains(EventFlags::ERR);
        let hung_up = flags.contains(EventFlags::HUP);
        let read_ended = hung_up || flags.contains(EventFlags::RDHUP);
        self.read
            .mark(failed || flags.contains(EventFlags::IN), read_ended, woken);
        self.write
            .mark(failed || flags.contains(EventFlags::OUT), hung_up, woken);
    }

    /// Gives out everybody who waits.
    pub(super) fn drain_into(&self, woken: &mut Vec<Waker>) {
        self.read.waiters.drain_into(woken);
        self.write.waiters.drain_into(woken);
    }
}

/// A socket and its registration, which is made when a call first has to wait.
#[derive(Debug)]
pub(super) struct Source {
    driver: Rc<Epoll>,
    readiness: Rc<Readiness>,
    token: Cell<Option<Token>>,
    /// Taken by `into_fd` alone, which ends the source.
    fd: Option<OwnedFd>,
}

impl Source {
    pub(super) fn new(driver: &Rc<Epoll>, fd: OwnedFd) -> Self {
        Self {
            driver: Rc::clone(driver),
            readiness: Rc::default(),
            token: Cell::new(None),
            fd: Some(fd),
        }
    }

    pub(super) fn driver(&self) -> &Rc<Epoll> {
        &self.driver
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.fd
            .as_ref()
            .expect("the descriptor leaves only when the source ends")
            .as_fd()
    }

    pub(super) fn read(&self) -> &Direction {
        &self.readiness.read
    }

    pub(super) fn write(&self) -> &Direction {
        &self.readiness.write
    }

    /// Ends the registration and gives the descriptor away.
    pub(super) fn into_fd(mut self) -> OwnedFd {
        self.unwatch();
        self.fd.take().expect("the descriptor leaves only here")
    }

    /// Makes a call that does not block: at once if it may succeed, else when `direction` is ready.
    pub(super) fn poll_io<T>(
        &self,
        cx: &mut Context<'_>,
        direction: &Direction,
        wait: &Wait<'_>,
        mut call: impl FnMut(BorrowedFd<'_>) -> Result<T, Errno>,
    ) -> Poll<io::Result<T>> {
        while direction.ready.get() {
            match call(self.fd()) {
                Ok(value) => return Poll::Ready(Ok(value)),
                Err(Errno::AGAIN) => direction.ready.set(false),
                // Another try; a call that does not block is interrupted before it has done
                // anything.
                Err(Errno::INTR) => {}
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
        self.poll_pending(cx, wait)
    }

    /// Waits: makes the registration if this is the first wait, and keeps the waker.
    pub(super) fn poll_pending<T>(
        &self,
        cx: &mut Context<'_>,
        wait: &Wait<'_>,
    ) -> Poll<io::Result<T>> {
        if self.driver.closed.get() {
            return Poll::Ready(Err(Errno::CANCELED.into()));
        }
        if self.token.get().is_none() {
            match self.driver.watch(self.fd(), &self.readiness) {
                Ok(token) => self.token.set(Some(token)),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        wait.wait(cx.waker());
        Poll::Pending
    }

    fn unwatch(&self) {
        if let Some(token) = self.token.take() {
            self.driver.unwatch(self.fd(), token);
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.unwatch();
    }
}

// One line is enough; a longer one would cost each event a second miss.
const _: () = assert!(size_of::<Direction>() == 64);
