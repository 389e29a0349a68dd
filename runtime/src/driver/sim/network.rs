//! Listeners and connections of a simulated world, and what packets do to them.
//!
//! Everything that one end does to the other goes through a packet; only the owner of an end
//! changes it otherwise. So a later fault plan has one place to act: the way of the packets.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::rc::Rc;
use std::task::Waker;

use rustix::io::Errno;

use super::World;
use super::connection::{Connection, End, Side};
use crate::io::Waiters;
use crate::net::ListenOptions;

/// The first port that is given to who asks for none, as on Linux.
const PORT_FIRST: u16 = 32_768;
/// The last one.
const PORT_LAST: u16 = 60_999;
/// How often a request is repeated that found the backlog full: Linux's `tcp_syn_retries`.
const RETRIES_MAX: u8 = 6;
/// The first repetition comes after a second, each later one after twice the time.
const RETRY_NS: u64 = 1_000_000_000;

/// What goes from one end to the other.
#[derive(Debug)]
pub(super) enum Packet {
    /// A client asks a listener for a connection, for the `attempt`-th time.
    Open {
        listener: u64,
        connection: u64,
        attempt: u8,
    },
    /// Something for one end of a connection.
    To {
        connection: u64,
        side: Side,
        segment: Segment,
    },
}

/// What an end gets.
#[derive(Debug)]
pub(super) enum Segment {
    /// The connection is made.
    Opened,
    /// It is not, and why.
    Failed(Errno),
    /// Bytes of the stream.
    Data(Vec<u8>),
    /// The other end has read so many bytes.
    Room(usize),
    /// The other end sends nothing more.
    Fin,
    /// The other end is gone.
    Reset,
}

impl Packet {
    /// The kind and the number of what it is for, as the trace names them.
    pub(super) fn identity(&self) -> (u8, u64) {
        match self {
            Self::Open {
                listener, attempt, ..
            } => (0x40 | attempt, *listener),
            Self::To {
                connection,
                side,
                segment,
            } => {
                let kind = match segment {
                    Segment::Opened => 0,
                    Segment::Failed(_) => 1,
                    Segment::Data(_) => 2,
                    Segment::Room(_) => 3,
                    Segment::Fin => 4,
                    Segment::Reset => 5,
                };
                (kind << 1 | *side as u8, *connection)
            }
        }
    }

    /// The bytes that it carries.
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::To {
                segment: Segment::Data(bytes),
                ..
            } => bytes,
            _ => &[],
        }
    }
}

#[derive(Debug)]
struct Listening {
    shard: usize,
    addr: SocketAddr,
    reuse_port: bool,
    backlog: usize,
    /// Connections that nobody has accepted.
    queue: VecDeque<u64>,
    waiters: Rc<Waiters>,
}

/// The state of the simulated network.
#[derive(Debug)]
pub(super) struct Network {
    listeners: BTreeMap<u64, Listening>,
    connections: BTreeMap<u64, Connection>,
    /// Listeners and connections made so far: the number of the next.
    made: u64,
    /// Ports of clients.
    ports: BTreeSet<u16>,
    port_next: u16,
}

impl Network {
    pub(super) fn new() -> Self {
        Self {
            listeners: BTreeMap::new(),
            connections: BTreeMap::new(),
            made: 0,
            ports: BTreeSet::new(),
            port_next: PORT_FIRST,
        }
    }

    /// Starts to listen. Returns the listener's number and its address.
    pub(super) fn listen(
        &mut self,
        shard: usize,
        mut addr: SocketAddr,
        options: &ListenOptions,
        waiters: Rc<Waiters>,
    ) -> Result<(u64, SocketAddr), Errno> {
        if addr.port() == 0 {
            addr.set_port(self.free_port()?);
        }
        let reuse_port = options.reuse_port;
        let taken = self.listeners.values().any(|other| {
            overlap(other.addr, addr) && !(reuse_port && other.reuse_port && other.addr == addr)
        });
        if taken || self.ports.contains(&addr.port()) {
            return Err(Errno::ADDRINUSE);
        }
        let backlog = usize::from(options.backlog);
        let queue = VecDeque::new();
        let number = self.number();
        let listening = Listening {
            shard,
            addr,
            reuse_port,
            backlog,
            queue,
            waiters,
        };
        self.listeners.insert(number, listening);
        Ok((number, addr))
    }

    /// Ends a listener; who waited in its backlog is reset.
    pub(super) fn close_listener(&mut self, world: &World, listener: u64) {
        let queued = self
            .listeners
            .remove(&listener)
            .map(|listening| listening.queue);
        for connection in queued.into_iter().flatten() {
            self.close(world, connection, Side::Server, Segment::Reset);
        }
    }

    /// Takes the next connection out of a listener's backlog.
    pub(super) fn accept(&mut self, listener: u64) -> Option<u64> {
        self.listeners.get_mut(&listener)?.queue.pop_front()
    }

    /// Starts a connection from `shard` to `addr`.
    pub(super) fn connect(
        &mut self,
        world: &World,
        shard: usize,
        mut addr: SocketAddr,
    ) -> Result<u64, Errno> {
        if addr.port() == 0 {
            return Err(Errno::CONNREFUSED);
        }
        if addr.ip().is_unspecified() {
            addr.set_ip(loopback_like(addr.ip()));
        }
        let port = self.free_port()?;
        self.ports.insert(port);
        let local = SocketAddr::new(addr.ip(), port);
        let number = self.number();
        let mut client = End::new(shard, local, addr);
        client.is_opening = true;
        self.connections.insert(number, Connection::new(client));
        let candidates: Vec<u64> = self
            .listeners
            .iter()
            .filter(|(_, listening)| reaches(addr, listening.addr))
            .map(|(&number, _)| number)
            .collect();
        match candidates.get(world.choose(candidates.len())) {
            Some(&listener) => {
                let to = self.listeners[&listener].shard;
                world.send(
                    to,
                    Packet::Open {
                        listener,
                        connection: number,
                        attempt: 0,
                    },
                    0,
                );
            }
            None => self.send(
                world,
                number,
                Side::Client,
                Segment::Failed(Errno::CONNREFUSED),
            ),
        }
        Ok(number)
    }

    /// One end of a connection, while its owner has it.
    pub(super) fn end(&mut self, connection: u64, side: Side) -> Option<&mut End> {
        self.connections.get_mut(&connection)?.end_mut(side)
    }

    /// Sends `segment` to the end at `side`, behind what is under way to it.
    pub(super) fn send(&mut self, world: &World, connection: u64, side: Side, segment: Segment) {
        let Some(known) = self.connections.get_mut(&connection) else {
            return;
        };
        known.send(world, connection, side, segment);
    }

    /// The owner of an end drops it: it says `last` to the other one.
    pub(super) fn close(&mut self, world: &World, connection: u64, side: Side, last: Segment) {
        let Some(known) = self.connections.get_mut(&connection) else {
            return;
        };
        let closed = known.close(side);
        if side == Side::Client
            && let Some(end) = closed
        {
            self.ports.remove(&end.local.port());
        }
        if known.is_over() {
            self.connections.remove(&connection);
        } else {
            known.send(world, connection, side.other(), last);
        }
    }

    /// A packet arrives.
    pub(super) fn take(&mut self, world: &World, packet: Packet, woken: &mut Vec<Waker>) {
        match packet {
            Packet::Open {
                listener,
                connection,
                attempt,
            } => {
                self.open(world, (listener, connection), attempt, woken);
            }
            Packet::To {
                connection,
                side,
                segment,
            } => {
                let Some(known) = self.connections.get_mut(&connection) else {
                    return;
                };
                let answer = known.take(side, segment, woken);
                if let Some(answer) = answer {
                    known.send(world, connection, side.other(), answer);
                }
            }
        }
    }

    /// A request for a connection arrives at its listener.
    fn open(
        &mut self,
        world: &World,
        (listener, connection): (u64, u64),
        attempt: u8,
        woken: &mut Vec<Waker>,
    ) {
        // Without a client the request is void.
        let Some(known) = self.connections.get_mut(&connection) else {
            return;
        };
        let Some(listening) = self.listeners.get_mut(&listener) else {
            return self.send(
                world,
                connection,
                Side::Client,
                Segment::Failed(Errno::CONNREFUSED),
            );
        };
        // As on Linux, one more than the backlog fits.
        if listening.queue.len() > listening.backlog {
            if attempt == RETRIES_MAX {
                let late = Segment::Failed(Errno::TIMEDOUT);
                return self.send(world, connection, Side::Client, late);
            }
            let at_ns = world.now().as_nanos() + (RETRY_NS << attempt);
            let again = Packet::Open {
                listener,
                connection,
                attempt: attempt + 1,
            };
            return world.send_at(listening.shard, again, at_ns);
        }
        known.accept(listening.shard);
        listening.queue.push_back(connection);
        listening.waiters.drain_into(woken);
        self.send(world, connection, Side::Client, Segment::Opened);
    }

    /// Adds everybody who waits on `shard` to `woken`.
    pub(super) fn waiters_of(&self, shard: usize, woken: &mut Vec<Waker>) {
        let listeners = self
            .listeners
            .values()
            .filter(|listening| listening.shard == shard);
        listeners.for_each(|listening| listening.waiters.drain_into(woken));
        let ends = self.connections.values().flat_map(Connection::ends);
        ends.filter(|end| end.shard == shard)
            .for_each(|end| end.waits.drain_into(woken));
    }

    fn number(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    fn free_port(&mut self) -> Result<u16, Errno> {
        for _ in PORT_FIRST..=PORT_LAST {
            let port = self.port_next;
            self.port_next = if port == PORT_LAST {
                PORT_FIRST
            } else {
                port + 1
            };
            let listens = self
                .listeners
                .values()
                .any(|listening| listening.addr.port() == port);
            if !listens && !self.ports.contains(&port) {
                return Ok(port);
            }
        }
        Err(Errno::ADDRNOTAVAIL)
    }
}

/// Whether two listeners' addresses exclude each other.
fn overlap(a: SocketAddr, b: SocketAddr) -> bool {
    let any = a.ip().is_unspecified() || b.ip().is_unspecified();
    a.port() == b.port() && (any || a.ip() == b.ip())
}

/// Whether a request to `addr` reaches a listener at `listening`.
fn reaches(addr: SocketAddr, listening: SocketAddr) -> bool {
    let same_family = addr.is_ipv4() == listening.is_ipv4();
    let any = listening.ip().is_unspecified() && same_family;
    addr.port() == listening.port() && (any || addr.ip() == listening.ip())
}

fn loopback_like(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    }
}
