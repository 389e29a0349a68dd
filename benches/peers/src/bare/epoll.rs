//! Bare epoll: level-triggered, one read and one write an event, one wait a turn.

use std::collections::VecDeque;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with, sockopt};

use corelane_bench_harness::{
    BenchError, Counters, EchoLog, Params, Sample, Serving, connect, echo_pair,
};

/// Events taken a wait.
const EVENTS_MAX: usize = 1_024;
/// `user_data` of the listener; connections have their descriptor.
const LISTENER: u64 = u64::MAX;

/// How a loop waits.
#[derive(Clone, Copy)]
enum Wait {
    Park,
    Spin,
}

/// When a loop ends.
#[derive(Clone, Copy, PartialEq)]
enum Until {
    ProcessEnds,
    FirstClose,
}

pub(super) fn serve(serving: Serving) -> Result<(), BenchError> {
    let bytes = serving.bytes;
    serving.each(|_, listener, counters| {
        Loop::new(listener, bytes)?.run(Wait::Park, Until::ProcessEnds, counters)
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
    let serve = |listener| Loop::new(listener, 64)?.run(wait, Until::FirstClose, counters);
    echo_pair(params, serve, |address, log| drive(address, wait, log))
}

fn drive(address: SocketAddr, wait: Wait, mut log: EchoLog) -> Result<EchoLog, BenchError> {
    let stream = connect(address)?;
    stream
        .set_nonblocking(true)
        .map_err(BenchError::io("set O_NONBLOCK"))?;
    let epoll = new_epoll()?;
    let data = epoll::EventData::new_u64(0);
    epoll::add(&epoll, &stream, data, epoll::EventFlags::IN)
        .map_err(BenchError::errno("watch a connection"))?;
    let mut events = Vec::with_capacity(1);
    let mut reply = [0; 64];
    while log.begin() {
        let sent = rustix::io::write(&stream, log.request()).map_err(BenchError::errno("send"))?;
        BenchError::check("bytes sent at once", 64, sent as u64)?;
        let mut received = 0;
        while received < reply.len() {
            wait_events(&epoll, &mut events, wait)?;
            if events.is_empty() {
                continue;
            }
            match rustix::io::read(&stream, &mut reply[received..]) {
                Ok(0) => {
                    return Err(BenchError::Stalled {
                        done: received as u64,
                        of: 64,
                    });
                }
                Ok(bytes) => received += bytes,
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(errno) => return Err(BenchError::errno("receive")(errno)),
            }
        }
        log.end(&reply)?;
    }
    Ok(log)
}

fn new_epoll() -> Result<OwnedFd, BenchError> {
    epoll::create(epoll::CreateFlags::CLOEXEC).map_err(BenchError::errno("make an epoll"))
}

fn wait_events(
    epoll: &OwnedFd,
    events: &mut Vec<epoll::Event>,
    wait: Wait,
) -> Result<(), BenchError> {
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let timeout = match wait {
        Wait::Park => None,
        Wait::Spin => Some(&now),
    };
    events.clear();
    match epoll::wait(epoll, rustix::buffer::spare_capacity(events), timeout) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(errno) => Err(BenchError::errno("wait for events")(errno)),
    }
}

struct Connection {
    stream: TcpStream,
    /// What a full socket did not take yet; while there is some, nothing is read.
    unsent: VecDeque<u8>,
}

struct Loop {
    epoll: OwnedFd,
    listener: TcpListener,
    /// By descriptor, which the kernel keeps small.
    connections: Vec<Option<Connection>>,
    buffer: Vec<u8>,
}

impl Loop {
    fn new(listener: TcpListener, bytes: usize) -> Result<Self, BenchError> {
        listener
            .set_nonblocking(true)
            .map_err(BenchError::io("set O_NONBLOCK"))?;
        let epoll = new_epoll()?;
        let data = epoll::EventData::new_u64(LISTENER);
        epoll::add(&epoll, &listener, data, epoll::EventFlags::IN)
            .map_err(BenchError::errno("watch the listener"))?;
        Ok(Self {
            epoll,
            listener,
            connections: Vec::new(),
            buffer: vec![0; bytes],
        })
    }

    fn run(mut self, wait: Wait, until: Until, counters: &Counters) -> Result<(), BenchError> {
        let mut events = Vec::with_capacity(EVENTS_MAX);
        loop {
            wait_events(&self.epoll, &mut events, wait)?;
            if events.is_empty() {
                continue;
            }
            counters.add(events.len() as u64);
            for event in events.drain(..) {
                let data = event.data.u64();
                if data == LISTENER {
                    self.accept_all()?;
                } else if !self.serve(data as usize, event.flags)? {
                    self.connections[data as usize] = None;
                    if until == Until::FirstClose {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn accept_all(&mut self) -> Result<(), BenchError> {
        loop {
            let socket = match accept_with(&self.listener, SocketFlags::NONBLOCK) {
                Ok(socket) => socket,
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR | Errno::CONNABORTED) => continue,
                Err(errno) => return Err(BenchError::errno("accept")(errno)),
            };
            sockopt::set_tcp_nodelay(&socket, true)
                .map_err(BenchError::errno("set TCP_NODELAY"))?;
            let fd = socket.as_raw_fd() as usize;
            let data = epoll::EventData::new_u64(fd as u64);
            epoll::add(&self.epoll, &socket, data, epoll::EventFlags::IN)
                .map_err(BenchError::errno("watch a connection"))?;
            if self.connections.len() <= fd {
                self.connections.resize_with(fd + 1, || None);
            }
            let stream = TcpStream::from(socket);
            self.connections[fd] = Some(Connection {
                stream,
                unsent: VecDeque::new(),
            });
        }
    }

    /// Serves one event; false when the connection has ended.
    fn serve(&mut self, fd: usize, flags: epoll::EventFlags) -> Result<bool, BenchError> {
        let Some(connection) = self.connections[fd].as_mut() else {
            return Ok(true);
        };
        if flags.contains(epoll::EventFlags::OUT) {
            return connection.flush(&self.epoll, fd);
        }
        let received = match rustix::io::read(&connection.stream, &mut self.buffer[..]) {
            Ok(0) => return Ok(false),
            Ok(bytes) => bytes,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(true),
            // A reset ends the connection like an end of stream: the client checks what it
            // received.
            Err(_) => return Ok(false),
        };
        let sent = match rustix::io::write(&connection.stream, &self.buffer[..received]) {
            Ok(bytes) => bytes,
            Err(Errno::AGAIN | Errno::INTR) => 0,
            Err(_) => return Ok(false),
        };
        if sent < received {
            connection.unsent.extend(&self.buffer[sent..received]);
            watch(&self.epoll, connection, fd, epoll::EventFlags::OUT)?;
        }
        Ok(true)
    }
}

impl Connection {
    fn flush(&mut self, epoll: &OwnedFd, fd: usize) -> Result<bool, BenchError> {
        while !self.unsent.is_empty() {
            match rustix::io::write(&self.stream, self.unsent.as_slices().0) {
                Ok(bytes) => drop(self.unsent.drain(..bytes)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(true),
                Err(_) => return Ok(false),
            }
        }
        watch(epoll, self, fd, epoll::EventFlags::IN)?;
        Ok(true)
    }
}

fn watch(
    epoll: &OwnedFd,
    connection: &Connection,
    fd: usize,
    flags: epoll::EventFlags,
) -> Result<(), BenchError> {
    epoll::modify(
        epoll,
        &connection.stream,
        epoll::EventData::new_u64(fd as u64),
        flags,
    )
    .map_err(BenchError::errno("change what epoll watches"))
}
