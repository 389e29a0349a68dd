//! The neutral load client: one thread, epoll, one request in flight a connection.
//!
//! Every server of a row gets the same client, so that only the servers differ. A reply that is not
//! the request byte for byte ends the row.

use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;

use hdrhistogram::Histogram;
use rustix::event::epoll;
use rustix::io::Errno;

use crate::{BenchError, clock_ns, connect};

/// How long nothing may happen before a round counts as stalled.
const STALL_S: i64 = 10;
/// Events taken a wait; more only wait for the next turn.
const EVENTS_MAX: usize = 1_024;
/// Highest latency the histogram tells apart: a minute.
const LATENCY_NS_MAX: u64 = 60_000_000_000;

/// Latencies to three digits.
pub(crate) fn latency_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LATENCY_NS_MAX, 3).expect("the bounds are constants that fit")
}

/// A request of `bytes` bytes that no other connection sends.
pub(crate) fn payload(connection: usize, bytes: usize) -> Vec<u8> {
    let mut state = connection as u64 ^ 0x9E37_79B9_7F4A_7C15;
    let mut byte = || {
        // xorshift64: no two connections have the same stream.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..bytes).map(|_| byte()).collect()
}

struct Connection {
    stream: TcpStream,
    request: Vec<u8>,
    reply: Vec<u8>,
    received: usize,
    sent: usize,
    sent_at_ns: u64,
    wants_write: bool,
}

impl Connection {
    fn new(stream: TcpStream, index: usize, bytes: usize) -> Self {
        let request = payload(index, bytes);
        let reply = vec![0; bytes];
        let idle = bytes;
        Self {
            stream,
            request,
            reply,
            received: 0,
            sent: idle,
            sent_at_ns: 0,
            wants_write: false,
        }
    }

    /// Starts the next request; its first bytes carry its number, so that no two replies are alike.
    fn begin(&mut self, number: u64, now_ns: u64) {
        self.request[..8].copy_from_slice(&number.to_le_bytes());
        self.sent = 0;
        self.received = 0;
        self.sent_at_ns = now_ns;
    }

    /// Sends what is left; true when all is out.
    fn send(&mut self) -> Result<bool, BenchError> {
        while self.sent < self.request.len() {
            match rustix::io::write(&self.stream, &self.request[self.sent..]) {
                Ok(bytes) => self.sent += bytes,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(false),
                Err(errno) => return Err(BenchError::errno("send a request")(errno)),
            }
        }
        Ok(true)
    }

    /// Receives once; true when the reply is whole, which is compared then.
    fn receive(&mut self) -> Result<bool, BenchError> {
        match rustix::io::read(&self.stream, &mut self.reply[self.received..]) {
            Ok(0) => return Err(closed_early()),
            Ok(bytes) => self.received += bytes,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(false),
            Err(errno) => return Err(BenchError::errno("receive a reply")(errno)),
        }
        if self.received < self.reply.len() {
            return Ok(false);
        }
        let same = self.reply == self.request;
        BenchError::check("replies like their request", 1, u64::from(same))?;
        Ok(true)
    }
}

fn closed_early() -> BenchError {
    let source = std::io::ErrorKind::UnexpectedEof.into();
    BenchError::Io {
        what: "the server closed a connection",
        source,
    }
}

/// What a stretch of load saw.
#[derive(Debug, Clone)]
pub struct Driven {
    /// Requests answered, each with its own payload back.
    pub requests: u64,
    /// Wall time of the stretch.
    pub wall_ns: u64,
    /// From the first byte out to the last byte back.
    pub latency_ns: Histogram<u64>,
}

impl Driven {
    /// Requests a second.
    pub fn per_second(&self) -> f64 {
        self.requests as f64 * 1e9 / self.wall_ns as f64
    }
}

/// The neutral client with its open connections.
pub struct Client {
    epoll: std::os::fd::OwnedFd,
    connections: Vec<Connection>,
    next_number: u64,
}

impl Client {
    /// Opens `count` connections for requests of `bytes` bytes (8 at least).
    ///
    /// # Errors
    ///
    /// [`BenchError::Io`] when one cannot be opened.
    pub fn connect(address: SocketAddr, count: usize, bytes: usize) -> Result<Self, BenchError> {
        let epoll = new_epoll()?;
        let mut connections = Vec::with_capacity(count);
        for index in 0..count {
            let stream = connect(address)?;
            stream
                .set_nonblocking(true)
                .map_err(BenchError::io("set O_NONBLOCK"))?;
            watch(&epoll, &stream, index, epoll::EventFlags::IN)?;
            connections.push(Connection::new(stream, index, bytes));
        }
        Ok(Self {
            epoll,
            connections,
            next_number: 0,
        })
    }

    /// Does `requests` requests over all connections, one in flight on each.
    ///
    /// # Errors
    ///
    /// [`BenchError::Check`] for a wrong reply, [`BenchError::Stalled`] after ten seconds without
    /// news, [`BenchError::Io`] for a lost connection.
    pub fn drive(&mut self, requests: u64) -> Result<Driven, BenchError> {
        let mut latency_ns = latency_histogram();
        let mut events = Vec::with_capacity(EVENTS_MAX);
        let start_ns = clock_ns();
        let mut issued = 0;
        for index in 0..self.connections.len() {
            if issued < requests {
                issued += 1;
                self.issue(index, clock_ns())?;
            }
        }
        let mut done = 0;
        while done < requests {
            wait(&self.epoll, &mut events, done, requests)?;
            for event in events.drain(..) {
                let (index, flags) = (event.data.u64() as usize, { event.flags });
                if flags.contains(epoll::EventFlags::OUT) {
                    self.send(index)?;
                }
                if !flags.intersects(readable()) || !self.connections[index].receive()? {
                    continue;
                }
                let now_ns = clock_ns();
                latency_ns.saturating_record(now_ns - self.connections[index].sent_at_ns);
                done += 1;
                if issued < requests {
                    issued += 1;
                    self.issue(index, now_ns)?;
                }
            }
        }
        Ok(Driven {
            requests: done,
            wall_ns: clock_ns() - start_ns,
            latency_ns,
        })
    }

    fn issue(&mut self, index: usize, now_ns: u64) -> Result<(), BenchError> {
        self.connections[index].begin(self.next_number, now_ns);
        self.next_number += 1;
        self.send(index)
    }

    /// Sends, and asks for writability only while something is left.
    fn send(&mut self, index: usize) -> Result<(), BenchError> {
        let connection = &mut self.connections[index];
        let wants_write = !connection.send()?;
        if wants_write != connection.wants_write {
            connection.wants_write = wants_write;
            let flags = if wants_write {
                epoll::EventFlags::IN | epoll::EventFlags::OUT
            } else {
                epoll::EventFlags::IN
            };
            let data = epoll::EventData::new_u64(index as u64);
            epoll::modify(&self.epoll, &connection.stream, data, flags)
                .map_err(BenchError::errno("change what epoll watches"))?;
        }
        Ok(())
    }
}

fn readable() -> epoll::EventFlags {
    epoll::EventFlags::IN | epoll::EventFlags::HUP | epoll::EventFlags::ERR
}

fn new_epoll() -> Result<std::os::fd::OwnedFd, BenchError> {
    epoll::create(epoll::CreateFlags::CLOEXEC).map_err(BenchError::errno("make an epoll"))
}

fn watch(
    epoll: &impl AsFd,
    stream: &TcpStream,
    index: usize,
    flags: epoll::EventFlags,
) -> Result<(), BenchError> {
    epoll::add(
        epoll,
        stream,
        epoll::EventData::new_u64(index as u64),
        flags,
    )
    .map_err(BenchError::errno("watch a connection"))
}

fn wait(
    epoll: &impl AsFd,
    events: &mut Vec<epoll::Event>,
    done: u64,
    of: u64,
) -> Result<(), BenchError> {
    let timeout = rustix::event::Timespec {
        tv_sec: STALL_S,
        tv_nsec: 0,
    };
    events.clear();
    match epoll::wait(
        epoll,
        rustix::buffer::spare_capacity(events),
        Some(&timeout),
    ) {
        Ok(0) => Err(BenchError::Stalled { done, of }),
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(errno) => Err(BenchError::errno("wait for replies")(errno)),
    }
}

/// Opens, echoes 64 bytes and resets `total` connections, `at_once` at a time.
///
/// The client resets (linger 0), since closing would leave each of its ports in TIME_WAIT for a
/// minute.
///
/// # Errors
///
/// Those of [`Client::drive`].
pub fn churn(address: SocketAddr, at_once: usize, total: u64) -> Result<Driven, BenchError> {
    const BYTES: usize = 64;
    let epoll = new_epoll()?;
    let mut slots: Vec<Option<Connection>> = (0..at_once).map(|_| None).collect();
    let mut latency_ns = latency_histogram();
    let mut events = Vec::with_capacity(EVENTS_MAX);
    let start_ns = clock_ns();
    let mut opened = 0;
    for (index, slot) in slots.iter_mut().enumerate() {
        if opened < total {
            *slot = Some(open(&epoll, address, index, opened, BYTES)?);
            opened += 1;
        }
    }
    let mut done = 0;
    while done < total {
        wait(&epoll, &mut events, done, total)?;
        for event in events.drain(..) {
            let index = event.data.u64() as usize;
            let Some(connection) = slots[index].as_mut() else {
                continue;
            };
            if !connection.receive()? {
                continue;
            }
            latency_ns.saturating_record(clock_ns() - connection.sent_at_ns);
            done += 1;
            slots[index] = None;
            if opened < total {
                slots[index] = Some(open(&epoll, address, index, opened, BYTES)?);
                opened += 1;
            }
        }
    }
    Ok(Driven {
        requests: done,
        wall_ns: clock_ns() - start_ns,
        latency_ns,
    })
}

fn open(
    epoll: &impl AsFd,
    address: SocketAddr,
    index: usize,
    number: u64,
    bytes: usize,
) -> Result<Connection, BenchError> {
    let begun_ns = clock_ns();
    let stream = connect(address)?;
    stream
        .set_nonblocking(true)
        .map_err(BenchError::io("set O_NONBLOCK"))?;
    rustix::net::sockopt::set_socket_linger(&stream, Some(std::time::Duration::ZERO))
        .map_err(BenchError::errno("set SO_LINGER"))?;
    watch(epoll, &stream, index, epoll::EventFlags::IN)?;
    let mut connection = Connection::new(stream, index, bytes);
    connection.begin(number, begun_ns);
    // 64 bytes always fit into the empty buffer of a new socket.
    BenchError::check(
        "first requests sent whole",
        1,
        u64::from(connection.send()?),
    )?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    fn echo_server(alter: bool) -> SocketAddr {
        let (listener, address) = crate::bind(0).unwrap();
        std::thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                std::thread::spawn(move || {
                    let mut buffer = [0; 4_096];
                    while let Ok(bytes @ 1..) = stream.read(&mut buffer) {
                        buffer[bytes - 1] ^= u8::from(alter);
                        if stream.write_all(&buffer[..bytes]).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        address
    }

    #[test]
    fn every_request_comes_back_and_is_counted() {
        let mut client = Client::connect(echo_server(false), 4, 10_000).unwrap();
        let driven = client.drive(101).unwrap();
        assert_eq!(driven.requests, 101);
        assert_eq!(driven.latency_ns.len(), 101);
    }

    #[test]
    fn an_altered_reply_ends_the_round() {
        let mut client = Client::connect(echo_server(true), 1, 64).unwrap();
        assert!(matches!(client.drive(1), Err(BenchError::Check { .. })));
    }

    #[test]
    fn churned_connections_each_get_their_echo() {
        assert_eq!(churn(echo_server(false), 3, 20).unwrap().requests, 20);
    }
}
