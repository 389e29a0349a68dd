//! I/O backends of a shard.
//!
//! Owner: one shard's thread. An enum, neither a type parameter nor a trait object, so that a
//! stream has one type and a call one branch. Each backend delivers by waking `std::task::Waker`s;
//! a waker of the shard's own tasks goes to its run queue. Rules for every backend:
//!
//! - `turn` never blocks; `park` blocks until something is delivered, the bell rings or the time is
//!   over.
//! - A dropped future never loses a buffer, a descriptor or bytes: what the kernel still uses stays
//!   in the backend's own table until its last completion.
//! - The backend runs wakers outside its own borrows.

pub(crate) mod bell;
pub(crate) mod epoll;
pub(crate) mod net;
pub(crate) mod sim;
mod sockets;
pub(crate) mod transfer;
pub(crate) mod uring;

use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use corelane_primitives::Epoch;

use crate::error::DriverError;
use crate::metrics::ShardCounters;
use crate::settings::IdlePolicy;
use bell::Bell;
pub(crate) use uring::RingKeepalive;

/// One shard's I/O backend.
#[derive(Debug, Clone)]
pub(crate) enum Driver {
    /// io_uring.
    Uring(Rc<uring::Uring>),
    /// epoll, with a timerfd.
    Epoll(Rc<epoll::Epoll>),
    /// The simulation: virtual time, simulated sockets.
    Sim(Rc<sim::SimDriver>),
}

/// What a backend is made from.
#[derive(Debug)]
pub(crate) struct DriverParts {
    /// The bell that ends a park.
    pub(crate) bell: &'static Bell,
    /// Where the backend counts.
    pub(crate) counters: Arc<ShardCounters>,
    /// Entries of the submission queue (uring), a power of two.
    pub(crate) ring_entries: u32,
    /// Receive buffers a shard, a power of two, at most 32,768.
    pub(crate) buffers: u16,
    /// Bytes a receive buffer.
    pub(crate) buffer_bytes: usize,
    /// What the shard does when it has nothing to do.
    pub(crate) idle: IdlePolicy,
}

impl Driver {
    /// Starts what was queued and delivers what is done, without blocking.
    pub(crate) fn turn(&self) {
        match self {
            Self::Uring(driver) => driver.turn(),
            Self::Epoll(driver) => driver.turn(),
            Self::Sim(driver) => driver.turn(),
        }
    }

    /// Whether `turn` may have something to do. Costs no system call.
    pub(crate) fn needs_turn(&self) -> bool {
        match self {
            Self::Uring(driver) => driver.needs_turn(),
            Self::Epoll(driver) => driver.needs_turn(),
            Self::Sim(driver) => driver.needs_turn(),
        }
    }

    /// Looks for news while the shard spins: in memory, and in what was made for frequent looks.
    /// Tells whether something was delivered or a turn would deliver something. A backend that has
    /// to ask the kernel for that says `false` and is asked by `turn`.
    pub(crate) fn find(&self) -> bool {
        match self {
            Self::Uring(driver) => driver.find(),
            Self::Epoll(_) => false,
            Self::Sim(driver) => driver.needs_turn(),
        }
    }

    /// Blocks until something is delivered, the bell rings or `timeout` is over; `None` waits for
    /// ever.
    ///
    /// # Errors
    ///
    /// What the kernel says that is neither an interruption nor a time-out: the shard cannot go on.
    pub(crate) fn park(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Uring(driver) => driver.park(timeout),
            Self::Epoll(driver) => driver.park(timeout),
            Self::Sim(driver) => driver.park(timeout),
        }
    }

    /// Rings another shard's bell and marks it rung once the ring is made (at the latest in the
    /// next `turn` or `park`).
    pub(crate) fn ring(&self, bell: &'static Bell, epoch: Epoch) {
        match self {
            Self::Uring(driver) => driver.ring(bell, epoch),
            Self::Epoll(_) | Self::Sim(_) => bell.ring_event(epoch),
        }
    }

    /// Cancels everything in flight and reaps it for at most `limit`. Returns how many operations
    /// are still in flight.
    ///
    /// # Errors
    ///
    /// As [`Driver::park`].
    pub(crate) fn close(&self, limit: Duration) -> io::Result<usize> {
        match self {
            Self::Uring(driver) => driver.close(limit),
            Self::Epoll(driver) => driver.close(limit),
            Self::Sim(driver) => driver.close(limit),
        }
    }
}

impl Driver {
    /// Takes what must stay open until every shard has stopped out of a closed driver: other shards
    /// address a ring by the number of its descriptor, which must not name anything else meanwhile.
    pub(crate) fn release_ring(&self) -> Option<RingKeepalive> {
        match self {
            Self::Uring(driver) => driver.release_ring(),
            Self::Epoll(_) | Self::Sim(_) => None,
        }
    }
}

/// Opens io_uring and says which of its features are in use.
///
/// # Errors
///
/// [`DriverError::UringRefused`] when the kernel, a filter or a limit refuses it.
pub(crate) fn open_uring(parts: DriverParts) -> Result<(Driver, String), DriverError> {
    let driver = uring::Uring::open(parts)?;
    let features = driver.features().to_string();
    Ok((Driver::Uring(driver), features))
}

/// Opens epoll.
///
/// # Errors
///
/// [`DriverError::Epoll`] when descriptors or memory have run out.
pub(crate) fn open_epoll(parts: DriverParts) -> Result<Driver, DriverError> {
    epoll::Epoll::open(parts).map(Driver::Epoll)
}
