//! The two ends of a simulated connection.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::Waker;

use rustix::io::Errno;

use super::World;
use super::network::{Packet, Segment};
use crate::io::Waiters;

/// Bytes that may be under way to an end or wait there unread.
pub(super) const WINDOW_BYTES: usize = 64 * 1024;

/// Which end: the one that connected, or the one that was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Client = 0,
    Server = 1,
}

impl Side {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// Who waits for an end.
#[derive(Debug, Default)]
pub(super) struct Waits {
    pub(super) read: Waiters,
    pub(super) write: Waiters,
}

impl Waits {
    pub(super) fn drain_into(&self, woken: &mut Vec<Waker>) {
        self.read.drain_into(woken);
        self.write.drain_into(woken);
    }
}

/// One end, as its owner and the packets to it know it.
#[derive(Debug)]
pub(super) struct End {
    pub(super) shard: usize,
    pub(super) local: SocketAddr,
    pub(super) peer: SocketAddr,
    pub(super) waits: Rc<Waits>,
    /// The request is under way.
    pub(super) is_opening: bool,
    /// Bytes that arrived and were not read.
    pub(super) received: VecDeque<u8>,
    /// Bytes that may be sent before the other end reads some.
    pub(super) room: usize,
    /// The other end sends nothing more.
    pub(super) has_ended: bool,
    /// This end sends nothing more.
    pub(super) is_write_shut: bool,
    /// This end waits for nothing more.
    pub(super) is_read_shut: bool,
    /// There is no connection any more.
    pub(super) is_dead: bool,
    /// Why; the first call that has no better answer takes it.
    pub(super) fault: Option<Errno>,
}

impl End {
    pub(super) fn new(shard: usize, local: SocketAddr, peer: SocketAddr) -> Self {
        Self {
            shard,
            local,
            peer,
            waits: Rc::default(),
            is_opening: false,
            received: VecDeque::new(),
            room: WINDOW_BYTES,
            has_ended: false,
            is_write_shut: false,
            is_read_shut: false,
            is_dead: false,
            fault: None,
        }
    }

    fn take(&mut self, segment: Segment, woken: &mut Vec<Waker>) {
        match segment {
            Segment::Opened => {
                self.is_opening = false;
                self.waits.write.drain_into(woken);
            }
            Segment::Data(bytes) => {
                self.received.extend(&bytes);
                self.waits.read.drain_into(woken);
            }
            Segment::Room(bytes) => {
                self.room += bytes;
                self.waits.write.drain_into(woken);
            }
            Segment::Fin => {
                self.has_ended = true;
                self.waits.read.drain_into(woken);
            }
            // As on Linux: after the other end's last byte a reset means that writing has no sense.
            Segment::Reset if self.has_ended => self.die(Errno::PIPE, woken),
            Segment::Reset => self.die(Errno::CONNRESET, woken),
            Segment::Failed(error) => self.die(error, woken),
        }
    }

    fn die(&mut self, fault: Errno, woken: &mut Vec<Waker>) {
        self.is_opening = false;
        self.is_dead = true;
        self.fault = Some(fault);
        self.waits.drain_into(woken);
    }
}

/// A connection: an end is there while its owner has it.
#[derive(Debug)]
pub(super) struct Connection {
    ends: [Option<End>; 2],
    addrs: [SocketAddr; 2],
    /// When the last packet to each end arrives: the next ones come no earlier.
    arrives_ns: [u64; 2],
    shards: [usize; 2],
}

impl Connection {
    /// A connection that `client` asks for.
    pub(super) fn new(client: End) -> Self {
        Self {
            addrs: [client.local, client.peer],
            arrives_ns: [0; 2],
            shards: [client.shard; 2],
            ends: [Some(client), None],
        }
    }

    /// A listener of `shard` takes the request.
    pub(super) fn accept(&mut self, shard: usize) {
        let [client, server] = self.addrs;
        self.shards[Side::Server as usize] = shard;
        self.ends[Side::Server as usize] = Some(End::new(shard, server, client));
    }

    pub(super) fn ends(&self) -> impl Iterator<Item = &End> {
        self.ends.iter().flatten()
    }

    pub(super) fn end_mut(&mut self, side: Side) -> Option<&mut End> {
        self.ends[side as usize].as_mut()
    }

    /// The owner drops its end.
    pub(super) fn close(&mut self, side: Side) -> Option<End> {
        self.ends[side as usize].take()
    }

    /// Whether nobody has an end any more.
    pub(super) fn is_over(&self) -> bool {
        self.ends.iter().all(Option::is_none)
    }

    /// Sends `segment` to the end at `side`. A stream keeps its order.
    pub(super) fn send(&mut self, world: &World, connection: u64, side: Side, segment: Segment) {
        let packet = Packet::To {
            connection,
            side,
            segment,
        };
        let (shard, arrives) = (
            self.shards[side as usize],
            &mut self.arrives_ns[side as usize],
        );
        *arrives = world.send(shard, packet, *arrives);
    }

    /// A segment arrives at `side`. Returns what is answered.
    pub(super) fn take(
        &mut self,
        side: Side,
        segment: Segment,
        woken: &mut Vec<Waker>,
    ) -> Option<Segment> {
        match self.end_mut(side) {
            Some(end) if !end.is_dead => {
                end.take(segment, woken);
                None
            }
            // Bytes for somebody who is gone.
            None if matches!(segment, Segment::Data(_)) => Some(Segment::Reset),
            _ => None,
        }
    }
}
