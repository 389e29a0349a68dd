//! Descriptors and memory run out inside of operations, here and there: the kernel's refusal is the
//! error of the operation concerned, and of no other.
#![cfg(target_arch = "x86_64")]
#![allow(clippy::unwrap_used)]

#[path = "tracer/calls.rs"]
mod calls;
mod tracer;

use std::cell::Cell;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;

use calls::{Call, between_marks};
use corelane::net::{TcpListener, TcpStream};
use corelane::{Driver, IdlePolicy, Placement, Runtime, StartError, metrics, spawn};
use nix::errno::Errno;
use nix::unistd::Pid;

/// Numbers of calls (`asm/unistd_64.h`), each with what it is refused with in turn.
const SOCKET: (u64, [Errno; 2]) = (41, [Errno::ENFILE, Errno::ENOMEM]);
const ACCEPT4: (u64, [Errno; 2]) = (288, [Errno::ENFILE, Errno::ENOMEM]);
const SENDTO: (u64, [Errno; 2]) = (44, [Errno::ENOMEM, Errno::ENOBUFS]);
const RECVFROM: (u64, [Errno; 2]) = (45, [Errno::ENOMEM, Errno::ENOBUFS]);
const EPOLL_CTL: (u64, [Errno; 2]) = (233, [Errno::ENOMEM, Errno::ENOSPC]);
/// What it is refused with means that memory is short, and is no operation's error.
const URING_ENTER: (u64, [Errno; 2]) = (426, [Errno::EAGAIN, Errno::EBUSY]);
/// An operation of `epoll_ctl` that cannot fail for want of memory.
const EPOLL_CTL_DEL: u64 = 2;

/// One call of each kind in so many is refused.
const REFUSED_EVERY: u64 = 5;

const CONNECTIONS: usize = 20;
const ROUNDS: usize = 20;

/// How many operations of the child were refused.
#[derive(Default)]
struct Refusals(Cell<u64>);

impl Refusals {
    /// Counts an error, which must be one of those that the parent makes.
    fn count(&self, error: &io::Error) {
        let errno = error.raw_os_error().map(Errno::from_raw);
        let known = [Errno::ENFILE, Errno::ENOMEM, Errno::ENOBUFS, Errno::ENOSPC];
        assert!(errno.is_some_and(|errno| known.contains(&errno)), "{error}");
        self.0.set(self.0.get() + 1);
    }

    async fn retried<T>(&self, mut operation: impl AsyncFnMut() -> io::Result<T>) -> T {
        loop {
            match operation().await {
                Ok(value) => return value,
                Err(error) => self.count(&error),
            }
        }
    }

    async fn send(&self, stream: &TcpStream, bytes: &[u8]) {
        let mut sent = 0;
        while sent < bytes.len() {
            let write = async || stream.write(bytes[sent..].to_vec()).await.0;
            sent += self.retried(write).await;
        }
    }

    /// Receives so many bytes, or fewer at the end.
    async fn receive(&self, stream: &TcpStream, len: usize) -> Vec<u8> {
        let mut got = Vec::new();
        while got.len() < len {
            let room = len - got.len();
            let read = async || {
                let (read, bytes) = stream.read(Vec::with_capacity(room)).await;
                read.map(|_| bytes)
            };
            let bytes = self.retried(read).await;
            if bytes.is_empty() {
                break;
            }
            got.extend(bytes);
        }
        got
    }
}

async fn client(addr: SocketAddr, number: usize, refusals: Rc<Refusals>) {
    let stream = refusals
        .retried(async || TcpStream::connect(addr).await)
        .await;
    for round in 0..ROUNDS {
        let bytes: Vec<u8> = (0..50 + round)
            .map(|at| (at * 7 + number + round) as u8)
            .collect();
        refusals.send(&stream, &bytes).await;
        assert_eq!(refusals.receive(&stream, bytes.len()).await, bytes);
    }
}

/// Echoes to a client; one whose connect was refused half-way sends nothing.
async fn echo(stream: TcpStream, refusals: Rc<Refusals>) {
    for round in 0..ROUNDS {
        let bytes = refusals.receive(&stream, 50 + round).await;
        if bytes.is_empty() {
            return;
        }
        refusals.send(&stream, &bytes).await;
    }
}

/// The child's load. Tells how many operations were refused; an accept that was refused has waited
/// and tried again by itself.
async fn load() -> u64 {
    let refusals = Rc::new(Refusals::default());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    tracer::begin();
    tracer::mark();
    let serving = spawn({
        let refusals = Rc::clone(&refusals);
        async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                spawn(echo(stream, Rc::clone(&refusals))).detach();
            }
        }
    });
    // One alone, and then many at once, which a driver may serve in other ways.
    client(addr, 0, Rc::clone(&refusals)).await;
    let clients: Vec<_> = (1..CONNECTIONS)
        .map(|number| spawn(client(addr, number, Rc::clone(&refusals))))
        .collect();
    for client in clients {
        client.await.unwrap();
    }
    serving.abort();
    tracer::mark();
    refusals.0.get() + metrics::snapshot().shards[0].accept_backoffs
}

/// What the parent has refused of one kind of call.
struct Refuser {
    kind: (u64, [Errno; 2]),
    calls: u64,
    refused: u64,
}

impl Refuser {
    fn of(kind: (u64, [Errno; 2])) -> Self {
        Self {
            kind,
            calls: 0,
            refused: 0,
        }
    }

    fn refuse(&mut self, call: Call) -> Option<Errno> {
        let (number, errnos) = self.kind;
        let is_end = number == EPOLL_CTL.0 && call.arguments[1] == EPOLL_CTL_DEL;
        if call.number != number || is_end {
            return None;
        }
        self.calls += 1;
        if !self.calls.is_multiple_of(REFUSED_EVERY) {
            return None;
        }
        self.refused += 1;
        Some(errnos[(self.refused % 2) as usize])
    }
}

/// Refuses calls of the child; tells how many errors of operations it has made.
fn refuse(thread: Pid, driver: &str) -> u64 {
    let kinds = [SOCKET, ACCEPT4, SENDTO, RECVFROM, EPOLL_CTL, URING_ENTER];
    let mut refusers = kinds.map(Refuser::of);
    between_marks(thread, |call| {
        refusers.iter_mut().find_map(|kind| kind.refuse(call))
    });
    let seen = |kind: &Refuser| kind.refused > 0;
    let [socket, accept, send, receive, control, enter] = &refusers;
    let counts = refusers.each_ref().map(|kind| (kind.calls, kind.refused));
    assert!(
        seen(socket) && seen(send) && seen(receive),
        "on {driver}: {counts:?}"
    );
    if driver == "epoll" {
        assert!(seen(accept) && seen(control));
    } else {
        assert!(seen(enter));
    }
    let errors = [socket, accept, send, receive, control];
    errors.iter().map(|kind| kind.refused).sum()
}

// proves: RT-25
#[test]
fn call_that_the_kernel_refuses_fails_its_operation_alone() {
    let drivers = [("uring", Driver::Uring), ("epoll", Driver::Epoll)];
    let runtime = |driver| {
        Runtime::builder()
            .placement(Placement::Unpinned(1))
            .idle(IdlePolicy::Park)
            .driver(driver)
    };
    if let Some(task) = tracer::child() {
        let (_, driver) = drivers.into_iter().find(|(name, _)| *name == task).unwrap();
        let refused = runtime(driver).run(load).unwrap();
        println!("refused {refused}");
        return;
    }
    for (name, driver) in drivers {
        match runtime(driver).run(async || ()) {
            Ok(()) => {}
            Err(StartError::Driver { .. }) if driver == Driver::Uring => continue,
            Err(error) => panic!("{name} did not start: {error}"),
        }
        let test = "call_that_the_kernel_refuses_fails_its_operation_alone";
        let Some((refused, said)) = tracer::look(test, name, |thread| refuse(thread, name)) else {
            return;
        };
        assert!(
            said.contains(&format!("refused {refused}\n")),
            "{refused} on {name}: {said}"
        );
    }
}
