//! The simulated backend: virtual time, and TCP inside one process.
//!
//! Owner: one thread, on which all shards of a simulation take turns. They share one [`World`]: its
//! clock, its random numbers, its network and its trace. A packet goes into the queue of the shard
//! that it is for, to arrive after a delay that is drawn from the seed, and that shard's turn
//! delivers it; so the order of all that happens follows from the seed alone.
//!
//! TCP here behaves as Linux's does on loopback, seen through the calls of this crate: bounded
//! buffers, a bounded backlog, short reads, half-closed streams, a reset when a stream is dropped
//! with unread bytes or written to after its end. Nothing is lost or reordered.

mod connection;
mod listener;
mod network;
mod random;
mod stream;
#[cfg(test)]
mod tests;
mod trace;
mod world;

pub(crate) use listener::Listener;
pub(crate) use stream::Stream;
pub(crate) use trace::Event;
pub(crate) use world::World;

use std::cell::Cell;
use std::fmt;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;

use super::DriverParts;
use crate::io::Pool;
use crate::metrics::ShardCounters;
use crate::task::wake_all;

/// Packets that one turn delivers at most, so that tasks run in between.
const DELIVERIES_MAX: usize = 64;

/// One shard's access to the simulated world.
pub(crate) struct SimDriver {
    world: Rc<World>,
    shard: usize,
    pool: Rc<Pool>,
    counters: Arc<ShardCounters>,
    closed: Cell<bool>,
}

impl SimDriver {
    /// Joins the world as its shard of this index.
    ///
    /// # Errors
    ///
    /// When the receive buffers cannot be mapped.
    pub(crate) fn open(
        world: &Rc<World>,
        shard: usize,
        parts: DriverParts,
    ) -> io::Result<Rc<Self>> {
        Ok(Rc::new(Self {
            world: Rc::clone(world),
            shard,
            pool: Pool::new(parts.buffers, parts.buffer_bytes)?,
            counters: parts.counters,
            closed: Cell::new(false),
        }))
    }

    /// Delivers the packets that have arrived by now, and wakes who waited for them.
    pub(crate) fn turn(&self) {
        let mut woken = Vec::new();
        for _ in 0..DELIVERIES_MAX {
            if !self.world.deliver(self.shard, &mut woken) {
                return;
            }
            self.counters.completions.add(1);
            wake_all(woken.drain(..));
        }
    }

    /// Whether a packet has arrived.
    pub(crate) fn needs_turn(&self) -> bool {
        self.world.has_arrived(self.shard)
    }

    /// Refuses: shards that share a thread must not block it, so the simulation's loop never parks.
    ///
    /// # Errors
    ///
    /// Always `Unsupported`.
    pub(crate) fn park(&self, _timeout: Option<Duration>) -> io::Result<()> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "a shard of a simulation does not park",
        ))
    }

    /// Refuses to wait from now on and wakes all of this shard's waiters, which then learn so.
    /// Nothing of the kernel's is ever in flight.
    pub(crate) fn close(&self, _limit: Duration) -> io::Result<usize> {
        self.closed.set(true);
        let mut woken = Vec::new();
        self.world
            .network()
            .borrow()
            .waiters_of(self.shard, &mut woken);
        self.pool.returned().drain_into(&mut woken);
        wake_all(woken);
        Ok(0)
    }

    /// The world that this shard is in.
    pub(crate) fn world(&self) -> &Rc<World> {
        &self.world
    }

    /// Whether waiting still has a sense.
    fn check_open(&self) -> io::Result<()> {
        if self.closed.get() {
            Err(Errno::CANCELED.into())
        } else {
            Ok(())
        }
    }
}

impl fmt::Debug for SimDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimDriver")
            .field("shard", &self.shard)
            .finish_non_exhaustive()
    }
}
