//! The epoll backend: readiness, one registration a socket for its life.
//!
//! Owner: one shard's thread. All is edge-triggered: a socket is registered for both directions
//! when it first has to wait, and its [`Readiness`] remembers what the kernel said until a call
//! finds the socket empty or full. An event names its slot and the slot's generation, so one that
//! was fetched before its socket went is ignored. The bell's eventfd and the timerfd are never
//! read: an edge is all they have to say.

mod listener;
mod source;
mod stream;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use listener::Listener;
pub(crate) use stream::Stream;

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::fs::Timespec;
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

use self::source::Readiness;
use self::table::{Table, Token};
use super::DriverParts;
use crate::error::DriverError;
use crate::io::Pool;
use crate::metrics::ShardCounters;
use crate::task::wake_all;
use crate::time::{Clock, Instant};

/// Events that one call fetches at most; what is left stays with the kernel for the next turn.
const EVENTS_MAX: usize = 256;

/// A shard's epoll instance, with its timer and its receive buffers.
pub(crate) struct Epoll {
    epoll: OwnedFd,
    timer: OwnedFd,
    /// When the timer fires next; `None` when it is unset.
    armed: Cell<Option<Instant>>,
    counters: Arc<ShardCounters>,
    pool: Rc<Pool>,
    table: RefCell<Table>,
    /// Room for one fetch, kept so that a turn does not allocate.
    events: RefCell<Vec<Event>>,
    woken: RefCell<Vec<Waker>>,
    closed: Cell<bool>,
}

impl Epoll {
    /// Makes the epoll instance and the timer, and watches the bell.
    pub(crate) fn open(parts: DriverParts) -> Result<Rc<Self>, DriverError> {
        Self::try_open(parts).map_err(DriverError::Epoll)
    }

    fn try_open(parts: DriverParts) -> io::Result<Rc<Self>> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        let edge = EventFlags::IN | EventFlags::ET;
        epoll::add(
            &epoll,
            parts.bell.event(),
            EventData::new_u64(Token::BELL.bits()),
            edge,
        )?;
        epoll::add(
            &epoll,
            &timer,
            EventData::new_u64(Token::TIMER.bits()),
            edge,
        )?;
        Ok(Rc::new(Self {
            epoll,
            timer,
            armed: Cell::new(None),
            counters: parts.counters,
            pool: Pool::new(parts.buffers, parts.buffer_bytes)?,
            table: RefCell::new(Table::default()),
            events: RefCell::new(Vec::with_capacity(EVENTS_MAX)),
            woken: RefCell::new(Vec::new()),
            closed: Cell::new(false),
        }))
    }

    /// Fetches events and wakes who waited for them, without blocking.
    ///
    /// # Panics
    ///
    /// If the kernel refuses the wait, which it does for a broken descriptor table alone.
    pub(crate) fn turn(&self) {
        let polled = self.deliver(Some(&Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        }));
        polled.expect("an epoll instance of our own with room for events can be polled");
    }

    /// Whether a socket is registered, so that `turn` may find something.
    pub(crate) fn needs_turn(&self) -> bool {
        !self.table.borrow().is_empty()
    }

    /// Blocks until an event, the bell or the end of `timeout`; a signal ends it too.
    pub(crate) fn park(&self, timeout: Option<Duration>) -> io::Result<()> {
        match timeout {
            None => self.deliver(None),
            Some(Duration::ZERO) => self.deliver(Some(&Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            })),
            Some(timeout) => {
                self.arm(timeout)?;
                self.deliver(None)
            }
        }
    }

    /// Refuses to wait from now on and wakes all waiters, which then learn so. Nothing is ever in
    /// flight here, so nothing is left.
    pub(crate) fn close(&self, _limit: Duration) -> io::Result<usize> {
        self.closed.set(true);
        let mut woken = Vec::new();
        for readiness in self.table.borrow().iter() {
            readiness.drain_into(&mut woken);
        }
        self.pool.returned().drain_into(&mut woken);
        wake_all(woken);
        Ok(0)
    }

    /// Sets the timer so that a wait ends when `timeout` is over.
    ///
    /// A timer that is set for earlier stays: the wait then ends early once, and the next one sets
    /// it anew. So a shard that parks again and again before one distant deadline sets it once.
    fn arm(&self, timeout: Duration) -> io::Result<()> {
        let deadline = Clock::Real.now().saturating_add(timeout);
        if self.armed.get().is_some_and(|armed| armed <= deadline) {
            return Ok(());
        }
        let value = Itimerspec {
            it_interval: Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: Timespec {
                tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: timeout.subsec_nanos().into(),
            },
        };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &value)?;
        self.armed.set(Some(deadline));
        Ok(())
    }

    /// Waits (`None`: for ever), marks what became ready, and wakes who waited for it.
    fn deliver(&self, timeout: Option<&Timespec>) -> io::Result<()> {
        let mut events = self.events.take();
        events.clear();
        // After a close or a nested turn the list may have lost its room.
        events.reserve(EVENTS_MAX);
        self.counters.enters.add(1);
        let waited = epoll::wait(&self.epoll, spare_capacity(&mut events), timeout);
        let mut woken = self.woken.take();
        for event in &events {
            self.mark(event, &mut woken);
        }
        self.events.replace(events);
        wake_all(woken.drain(..));
        self.woken.replace(woken);
        match waited {
            // A signal: the caller looks at everything and waits again.
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn mark(&self, event: &Event, woken: &mut Vec<Waker>) {
        // Copied out, since the kernel's structure is packed.
        let (data, flags) = (event.data, event.flags);
        match Token::from_bits(data.u64()) {
            Token::BELL => {}
            Token::TIMER => self.armed.set(None),
            token => {
                if let Some(readiness) = self.table.borrow().readiness(token) {
                    self.counters.completions.add(1);
                    readiness.mark(flags, woken);
                }
            }
        }
    }

    /// Registers a socket for both directions. The kernel then reports its present state once.
    fn watch(&self, fd: BorrowedFd<'_>, readiness: &Rc<Readiness>) -> io::Result<Token> {
        let token = self.table.borrow_mut().insert(Rc::clone(readiness));
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        let added = epoll::add(&self.epoll, fd, EventData::new_u64(token.bits()), flags);
        if let Err(error) = added {
            self.table.borrow_mut().remove(token);
            return Err(error.into());
        }
        self.counters.operations.add(1);
        Ok(token)
    }

    /// Ends a registration. The descriptor is still open: a duplicate of it may live on, and would
    /// keep the registration alive.
    fn unwatch(&self, fd: BorrowedFd<'_>, token: Token) {
        self.table.borrow_mut().remove(token);
        let deleted = epoll::delete(&self.epoll, fd);
        debug_assert!(
            deleted.is_ok(),
            "a registered socket is unknown to epoll: {deleted:?}"
        );
    }
}

impl fmt::Debug for Epoll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Epoll")
            .field("epoll", &self.epoll)
            .field("pool", &self.pool)
            .finish_non_exhaustive()
    }
}
