//! What all shards of a simulation share.
//!
//! Owner: the simulation's thread. The network is borrowed for single steps and never while a waker
//! runs.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::rc::Rc;
use std::task::Waker;

use super::network::{Network, Packet};
use super::random::Random;
use super::trace::{Event, Trace};
use crate::time::{Clock, Instant};

/// The shortest and the longest way of a packet, in nanoseconds.
const DELAY_NS_MIN: u64 = 10_000;
const DELAY_NS_MAX: u64 = 300_000;

/// A simulated world: one clock, one network, one source of chance.
pub(crate) struct World {
    clock: Rc<Cell<u64>>,
    random: Random,
    trace: Trace,
    /// What is under way, by the shard that it is for.
    queues: RefCell<Vec<BinaryHeap<Reverse<Delivery>>>>,
    sent: Cell<u64>,
    network: RefCell<Network>,
}

/// A packet that arrives at a known time.
#[derive(Debug)]
struct Delivery {
    at_ns: u64,
    /// How many were sent before: what is due at one time arrives in the order of sending.
    number: u64,
    packet: Packet,
}

impl World {
    /// The world of `seed`, for so many shards, at the time zero.
    pub(crate) fn new(seed: u64, shards: usize) -> Rc<Self> {
        Rc::new(Self {
            clock: Rc::new(Cell::new(0)),
            random: Random::new(seed),
            trace: Trace::new(seed),
            queues: RefCell::new((0..shards).map(|_| BinaryHeap::new()).collect()),
            sent: Cell::new(0),
            network: RefCell::new(Network::new()),
        })
    }

    /// The world's clock, for a shard.
    pub(crate) fn clock(&self) -> Clock {
        Clock::Virtual(Rc::clone(&self.clock))
    }

    /// The time now.
    pub(crate) fn now(&self) -> Instant {
        Instant::from_nanos(self.clock.get())
    }

    /// Moves the clock on; a time that is over changes nothing.
    pub(crate) fn advance(&self, to: Instant) {
        self.clock.set(self.clock.get().max(to.as_nanos()));
    }

    /// Chooses one of `count` things.
    pub(crate) fn choose(&self, count: usize) -> usize {
        self.random.below(count as u64) as usize
    }

    /// Adds something that happened to the trace.
    pub(crate) fn record(&self, event: Event<'_>) {
        self.trace.record(event);
    }

    /// All that happened so far, as one number.
    pub(crate) fn trace_hash(&self) -> u64 {
        self.trace.hash()
    }

    /// When the next packet arrives at any shard.
    pub(crate) fn next_delivery(&self) -> Option<Instant> {
        let queues = self.queues.borrow();
        let heads = queues.iter().filter_map(BinaryHeap::peek);
        heads.map(|head| Instant::from_nanos(head.0.at_ns)).min()
    }

    /// Whether a packet for `shard` has arrived.
    pub(super) fn has_arrived(&self, shard: usize) -> bool {
        let queues = self.queues.borrow();
        queues[shard]
            .peek()
            .is_some_and(|head| head.0.at_ns <= self.clock.get())
    }

    /// Delivers the next packet that has arrived at `shard`, and adds who waited for it to `woken`.
    /// `false` when none has.
    pub(super) fn deliver(&self, shard: usize, woken: &mut Vec<Waker>) -> bool {
        if !self.has_arrived(shard) {
            return false;
        }
        let Some(Reverse(delivery)) = self.queues.borrow_mut()[shard].pop() else {
            return false;
        };
        let packet = delivery.packet;
        let (kind, number) = packet.identity();
        self.record(Event::Delivery {
            shard,
            kind,
            number,
            bytes: packet.bytes(),
        });
        self.network.borrow_mut().take(self, packet, woken);
        true
    }

    /// Sends a packet to `shard`, to arrive after a delay by chance, yet not before
    /// `not_before_ns`. Returns when it arrives.
    pub(super) fn send(&self, shard: usize, packet: Packet, not_before_ns: u64) -> u64 {
        let delay = DELAY_NS_MIN + self.random.below(DELAY_NS_MAX - DELAY_NS_MIN);
        let at_ns = (self.clock.get() + delay).max(not_before_ns);
        self.send_at(shard, packet, at_ns);
        at_ns
    }

    /// Sends a packet to `shard`, to arrive at a given time.
    pub(super) fn send_at(&self, shard: usize, packet: Packet, at_ns: u64) {
        let number = self.sent.get();
        self.sent.set(number + 1);
        self.queues.borrow_mut()[shard].push(Reverse(Delivery {
            at_ns,
            number,
            packet,
        }));
    }

    pub(super) fn random(&self) -> &Random {
        &self.random
    }

    pub(super) fn network(&self) -> &RefCell<Network> {
        &self.network
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("now", &self.now())
            .finish_non_exhaustive()
    }
}

impl PartialEq for Delivery {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Delivery {}

impl PartialOrd for Delivery {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Delivery {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at_ns, self.number).cmp(&(other.at_ns, other.number))
    }
}
