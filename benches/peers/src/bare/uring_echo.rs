//! Bare io_uring echo: multishot accept and receive, provided buffers, one send in flight a
//! connection, one enter a turn.

use std::collections::VecDeque;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use rustix::io::Errno;
use rustix::net::sockopt;

use corelane_bench_harness::{
    BenchError, Counters, EchoLog, Params, Sample, Serving, connect, echo_pair,
};

use super::uring::{Completion, Op, Ring, Wait};

/// A buffer of a small request still takes a whole cache line pair or two.
const BUFFER_BYTES_MIN: usize = 256;

/// When a loop ends.
#[derive(Clone, Copy, PartialEq)]
enum Until {
    ProcessEnds,
    FirstClose,
}

pub(super) fn serve(serving: Serving) -> Result<(), BenchError> {
    let (connections, bytes) = (serving.connections, serving.bytes);
    serving.each(|_, listener, counters| {
        let mut echo = Echo::new(listener, connections, bytes)?;
        echo.run(Wait::Park, Until::ProcessEnds, counters)
    })
}

pub(super) fn echo_c1_park(params: &Params) -> Result<Sample, BenchError> {
    echo_c1(params, Wait::Park)
}

pub(super) fn echo_c1_spin(params: &Params) -> Result<Sample, BenchError> {
    echo_c1(params, Wait::Spin)
}

fn echo_c1(params: &Params, wait: Wait) -> Result<Sample, BenchError> {
    let counters = Counters::default();
    let counters = &counters;
    let serve = |listener| Echo::new(listener, 1, 64)?.run(wait, Until::FirstClose, counters);
    echo_pair(params, serve, |address, log| drive(address, wait, log))
}

fn drive(address: SocketAddr, wait: Wait, mut log: EchoLog) -> Result<EchoLog, BenchError> {
    let stream = connect(address)?;
    let fd = stream.as_raw_fd();
    let mut ring = Ring::new(4, BUFFER_BYTES_MIN)?;
    ring.receive(fd)?;
    let mut completions = Vec::with_capacity(16);
    while log.begin() {
        let sent = rustix::io::write(&stream, log.request()).map_err(BenchError::errno("send"))?;
        BenchError::check("bytes sent at once", 64, sent as u64)?;
        let mut reply: Option<(u16, usize)> = None;
        while reply.is_none() {
            ring.turn(wait, &mut completions)?;
            for done in &completions {
                if let Some(buffer) = done.buffer {
                    reply = Some((buffer, done.result as usize));
                }
                if !done.more {
                    ring.receive(fd)?;
                }
            }
        }
        // The server echoes what it received in one piece, and 64 bytes always come in one.
        let (buffer, length) = reply.expect("the loop ends with a reply");
        log.end(ring.bytes(buffer, length))?;
        ring.recycle(buffer);
    }
    Ok(log)
}

struct Connection {
    socket: OwnedFd,
    sending: bool,
    ended: bool,
    /// Received while a send was in flight: buffer and length.
    queued: VecDeque<(u16, u32)>,
}

struct Echo {
    ring: Ring,
    listener: TcpListener,
    /// By descriptor, which the kernel keeps small.
    connections: Vec<Option<Connection>>,
    /// Receives that found no buffer; armed again after the next recycled one.
    starved: Vec<RawFd>,
    closed: u64,
}

impl Echo {
    fn new(listener: TcpListener, connections: usize, bytes: usize) -> Result<Self, BenchError> {
        // Twice the requests in flight: enough never to starve, few enough to stay in the cache.
        let count = (connections * 2).next_power_of_two().max(4) as u16;
        let mut ring = Ring::new(count, bytes.max(BUFFER_BYTES_MIN))?;
        ring.accept(listener.as_raw_fd())?;
        Ok(Self {
            ring,
            listener,
            connections: Vec::new(),
            starved: Vec::new(),
            closed: 0,
        })
    }

    fn run(&mut self, wait: Wait, until: Until, counters: &Counters) -> Result<(), BenchError> {
        let mut completions = Vec::with_capacity(1_024);
        loop {
            self.ring.turn(wait, &mut completions)?;
            if completions.is_empty() {
                continue;
            }
            counters.add(completions.len() as u64);
            for done in &completions {
                match done.op {
                    Op::Accept => self.accepted(done)?,
                    Op::Receive(fd) => self.received(fd, done)?,
                    Op::Send(fd, buffer) => self.sent(fd, buffer)?,
                }
            }
            if until == Until::FirstClose && self.closed > 0 {
                return Ok(());
            }
        }
    }

    fn accepted(&mut self, done: &Completion) -> Result<(), BenchError> {
        if !done.more {
            self.ring.accept(self.listener.as_raw_fd())?;
        }
        if done.result < 0 {
            return Err(BenchError::errno("accept")(Errno::from_raw_os_error(
                -done.result,
            )));
        }
        let fd = done.result;
        // SAFETY: Valid: the kernel opened this descriptor for us. Exclusive: this completion alone
        // names it.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        sockopt::set_tcp_nodelay(&socket, true).map_err(BenchError::errno("set TCP_NODELAY"))?;
        let slot = fd as usize;
        if self.connections.len() <= slot {
            self.connections.resize_with(slot + 1, || None);
        }
        let queued = VecDeque::new();
        self.connections[slot] = Some(Connection {
            socket,
            sending: false,
            ended: false,
            queued,
        });
        self.ring.receive(fd)
    }

    fn received(&mut self, fd: RawFd, done: &Completion) -> Result<(), BenchError> {
        let Some(connection) = self.connections[fd as usize].as_mut() else {
            return Ok(());
        };
        if let Some(buffer) = done.buffer.filter(|_| done.result > 0) {
            let length = done.result as u32;
            if connection.sending {
                connection.queued.push_back((buffer, length));
            } else {
                connection.sending = true;
                self.ring.send(fd, buffer, length)?;
            }
        } else if done.result == -Errno::NOBUFS.raw_os_error() {
            self.starved.push(fd);
            return Ok(());
        } else {
            // End of stream, or a reset: the client checks what it received.
            connection.ended = true;
            self.close_if_done(fd);
            return Ok(());
        }
        if !done.more {
            self.ring.receive(fd)?;
        }
        Ok(())
    }

    fn sent(&mut self, fd: RawFd, buffer: u16) -> Result<(), BenchError> {
        self.ring.recycle(buffer);
        while let Some(starved) = self.starved.pop() {
            self.ring.receive(starved)?;
        }
        let Some(connection) = self.connections[fd as usize].as_mut() else {
            return Ok(());
        };
        // A failed send needs nothing more here: the armed receive reports the broken connection.
        connection.sending = false;
        if let Some((buffer, length)) = connection.queued.pop_front() {
            connection.sending = true;
            self.ring.send(fd, buffer, length)?;
        }
        self.close_if_done(fd);
        Ok(())
    }

    /// Closes once the receive has ended and nothing is in flight, so that no completion finds a
    /// new owner of the descriptor.
    fn close_if_done(&mut self, fd: RawFd) {
        let slot = &mut self.connections[fd as usize];
        let done = |connection: &Connection| connection.ended && !connection.sending;
        if let Some(connection) = slot.take_if(|connection| done(connection)) {
            drop(connection.socket);
            self.closed += 1;
        }
    }
}
