//! Sending: at once while nothing is in flight, else by one send in the kernel at a time.
//!
//! In a crowd (many completions in one turn, so that many streams are about to send) a send is
//! queued instead, and all go with the turn's one `enter`: 5 % less processor time a request over
//! 64 and 1,000 connections (bench `tcp`, rows `echo_64b_c64`, `echo_64b_c1000`). A lone stream
//! sends at once.
//!
//! Order: a send in flight keeps every later one waiting. Its buffer stays with the future, whose
//! memory does not move by the buffer's contract; a future that is dropped meanwhile leaves the
//! buffer in the in-flight table, where the last completion frees it.

use std::any::Any;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};

use io_uring::{opcode, types::Fd};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::SendFlags;

use super::driver::Op;
use super::slots::Key;
use super::stream::Socket;
use crate::io::{IoBuf, Wait};

/// Where a socket's one send is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SendState {
    /// None is in flight.
    Idle,
    /// In the kernel.
    Flight(Key),
    /// Over, with a result that its future has not taken yet.
    Done(Key, i32),
}

/// A send in the in-flight table.
#[derive(Debug)]
pub(super) struct Sending {
    socket: Rc<Socket>,
    /// The buffer of a future that was dropped.
    abandoned: Option<Box<dyn Any>>,
}

impl Sending {
    /// The send of `key` is over.
    pub(super) fn done(self, key: Key, result: i32) {
        let taken = self.abandoned.is_none();
        self.socket.send.set(if taken {
            SendState::Done(key, result)
        } else {
            SendState::Idle
        });
        self.socket.writers.wake_all();
    }
}

/// Names a send in the kernel, for the write that waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flight(Key);

impl Socket {
    /// Goes on with the send that `flight` names, or begins one.
    pub(super) fn poll_send(
        self: &Rc<Self>,
        wait: &Wait<'_>,
        cx: &mut Context<'_>,
        flight: &mut Option<Flight>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        match self.step(flight, bytes) {
            Some(result) => Poll::Ready(result),
            None => {
                wait.wait(cx.waker());
                Poll::Pending
            }
        }
    }

    pub(super) fn poll_write(
        self: &Rc<Self>,
        wait: &Wait<'_>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        if self.send.get() == SendState::Idle {
            match self.send_now(bytes) {
                Ok(Some(n)) => return Poll::Ready(Ok(n)),
                Ok(None) => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
            if let Err(error) = self.arm_writable() {
                return Poll::Ready(Err(error));
            }
        }
        wait.wait(cx.waker());
        Poll::Pending
    }

    /// Waits until the socket has room, is connected, or has failed.
    pub(super) async fn wait_writable(self: &Rc<Self>) -> io::Result<()> {
        let wait = Wait::new(&self.writers);
        let mut armed = false;
        poll_fn(|cx| {
            if armed && self.writable.get().is_none() {
                return Poll::Ready(Ok(()));
            }
            if let Err(error) = self.arm_writable() {
                return Poll::Ready(Err(error));
            }
            armed = true;
            wait.wait(cx.waker());
            Poll::Pending
        })
        .await
    }

    fn arm_writable(self: &Rc<Self>) -> io::Result<()> {
        if self.writable.get().is_none() {
            let key = self.poll_once(Op::Writable(Rc::clone(self)), PollFlags::OUT)?;
            self.writable.set(Some(key));
        }
        Ok(())
    }

    /// A poll for room has ended.
    pub(super) fn writable(&self) {
        self.writable.set(None);
        self.writers.wake_all();
    }

    /// Sends at once; `None` when there is no room.
    fn send_now(&self, bytes: &[u8]) -> io::Result<Option<usize>> {
        loop {
            match rustix::net::send(&self.fd, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(n) => {
                    self.driver.counters().inline_io.add(1);
                    return Ok(Some(n));
                }
                Err(Errno::AGAIN) => return Ok(None),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Socket {
    /// Goes on as far as it can; `None` when it must wait for the writers to be woken.
    fn step(
        self: &Rc<Self>,
        flight: &mut Option<Flight>,
        bytes: &[u8],
    ) -> Option<io::Result<usize>> {
        match (self.send.get(), *flight) {
            (SendState::Done(done, result), Some(Flight(key))) if done == key => {
                *flight = None;
                self.send.set(SendState::Idle);
                self.writers.wake_all();
                if let Ok(n) = usize::try_from(result) {
                    return Some(Ok(n));
                }
                match Errno::from_raw_os_error(-result) {
                    Errno::INTR | Errno::AGAIN => self.begin(flight, bytes),
                    error => Some(Err(error.into())),
                }
            }
            (SendState::Idle, _) => self.begin(flight, bytes),
            _ => None,
        }
    }

    fn begin(
        self: &Rc<Self>,
        flight: &mut Option<Flight>,
        bytes: &[u8],
    ) -> Option<io::Result<usize>> {
        // In a crowd the send joins the others in the next `enter`.
        if !self.driver.is_crowded() {
            match self.send_now(bytes) {
                Ok(Some(n)) => return Some(Ok(n)),
                Ok(None) => {}
                Err(error) => return Some(Err(error)),
            }
        }
        let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let flags = SendFlags::NOSIGNAL.bits().cast_signed();
        let send = opcode::Send::new(Fd(self.raw_fd()), bytes.as_ptr(), len).flags(flags);
        let sending = Sending {
            socket: Rc::clone(self),
            abandoned: None,
        };
        match self.driver.start(Op::Send(sending), send.build()) {
            Ok(key) => {
                *flight = Some(Flight(key));
                self.send.set(SendState::Flight(key));
                self.driver.hurry();
                None
            }
            Err(error) => Some(Err(error)),
        }
    }

    /// Nobody waits for a send any more.
    pub(super) fn abandon(&self, Flight(key): Flight, buf: impl IoBuf) {
        if let SendState::Done(done, _) = self.send.get()
            && done == key
        {
            self.send.set(SendState::Idle);
            self.writers.wake_all();
            return;
        }
        self.driver.abandon_send(key, buf);
    }
}

impl super::driver::Uring {
    /// Leaves a send's buffer to its last completion, and asks for that.
    fn abandon_send(&self, key: Key, buf: impl IoBuf) {
        match self.slots.borrow_mut().get_mut(key) {
            Some(Op::Send(sending)) => sending.abandoned = Some(Box::new(buf)),
            // The table was left to the kernel when the driver closed: so is the buffer.
            _ => std::mem::forget(buf),
        }
        self.cancel(key);
    }
}
