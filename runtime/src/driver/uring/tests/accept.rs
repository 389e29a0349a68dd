//! Accepting: nothing lost, nothing spun, nothing left open.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream as StdStream;
use std::os::fd::OwnedFd;
use std::task::Poll;

use futures_util::future::join_all;
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit};

use super::*;
use crate::driver::uring::ring::Block;

// proves: RT-12
#[test]
fn one_accept_operation_takes_many_connections() {
    on(NEWEST, |driver| {
        let (listener, addr) = listener(driver);
        let operations = driver.counters().operations.value();
        for _ in 0..50 {
            let peer = StdStream::connect(addr).unwrap();
            let (stream, from) = block_on(driver, listener.accept()).unwrap();
            assert_eq!(from, peer.local_addr().unwrap());
            assert_eq!(stream.peer_addr().unwrap(), from);
        }
        assert_eq!(driver.counters().operations.value() - operations, 1);
    });
}

// proves: RT-13
#[test]
fn a_dropped_accept_loses_no_connection() {
    on_every_shape(|driver| {
        let (listener, addr) = listener(driver);
        let mut peers = Vec::new();
        let mut accepted = Vec::new();
        for _ in 0..40 {
            // Dropped at once, with a connection on its way or not.
            match poll_once(listener.accept()) {
                Poll::Ready(result) => accepted.push(result.unwrap()),
                Poll::Pending => {}
            }
            peers.push(StdStream::connect(addr).unwrap());
            driver.turn();
        }
        while accepted.len() < peers.len() {
            accepted.push(block_on(driver, listener.accept()).unwrap());
        }
        let theirs: Vec<_> = peers
            .iter()
            .map(|peer| peer.local_addr().unwrap())
            .collect();
        let ours: Vec<_> = accepted.iter().map(|(_, from)| *from).collect();
        assert_eq!(ours, theirs, "in the order they came");
    });
}

#[test]
fn a_queue_that_nobody_empties_stops_its_accept_and_goes_on_later() {
    on(NEWEST, |driver| {
        let (listener, addr) = listener(driver);
        assert!(poll_once(listener.accept()).is_pending());
        driver.turn();
        let mut peers: Vec<StdStream> = Vec::new();
        for _ in 0..600 {
            peers.push(StdStream::connect(addr).unwrap());
            driver.turn();
        }
        let queued = listener.shared.queue.borrow().len();
        assert!(queued < 300, "{queued} wait here");
        assert!(
            listener.shared.accept.get().is_none(),
            "the accept was ended"
        );
        for peer in &peers {
            let (_stream, from) = block_on(driver, listener.accept()).unwrap();
            assert_eq!(from, peer.local_addr().unwrap());
        }
    });
}

#[test]
fn a_dropped_listener_closes_what_it_had_accepted() {
    on(NEWEST, |driver| {
        let (listener, addr) = listener(driver);
        assert!(poll_once(listener.accept()).is_pending());
        driver.turn();
        let mut peers: Vec<_> = (0..20).map(|_| StdStream::connect(addr).unwrap()).collect();
        turn_until(driver, || listener.shared.queue.borrow().len() == 20);
        drop(listener);
        turn_until(driver, || driver.in_flight() == 1);
        for peer in &mut peers {
            // An end or a reset: in any case no connection that nobody holds.
            assert!(!matches!(peer.read(&mut [0; 8]), Ok(1..)));
        }
        assert!(StdStream::connect(addr).is_err(), "nobody listens any more");
    });
}

// proves: RT-13
#[test]
fn a_connection_that_meets_a_dropped_listener_is_closed() {
    on_every_shape(|driver| {
        for _ in 0..20 {
            let (listener, addr) = listener(driver);
            assert!(poll_once(listener.accept()).is_pending());
            driver.turn();
            let mut peer = StdStream::connect(addr).unwrap();
            // The kernel accepts; its completion is seen when nobody listens any more.
            let ring = &driver.ring;
            ring.borrow_mut()
                .as_mut()
                .unwrap()
                .enter(Block::No)
                .unwrap();
            drop(listener);
            turn_until(driver, || driver.in_flight() == 1);
            peer.set_read_timeout(Some(Duration::from_secs(10)))
                .unwrap();
            let read = peer.read(&mut [0; 8]).map_err(|error| error.kind());
            assert!(
                matches!(read, Ok(0) | Err(ErrorKind::ConnectionReset)),
                "{read:?}"
            );
        }
    });
}

// proves: RT-25
#[test]
fn accept_tells_that_descriptors_ran_out_and_finds_the_connection_later() {
    alone(
        "accept::accept_tells_that_descriptors_ran_out_and_finds_the_connection_later",
        || {
            for shape in SHAPES {
                on(shape, |driver| {
                    let (listener, addr) = listener(driver);
                    let (live, mut live_peer) = pair(driver);
                    let peer = StdStream::connect(addr).unwrap();
                    let limit = rustix::process::getrlimit(Resource::Nofile);
                    let few = Rlimit {
                        current: Some(64),
                        ..limit
                    };
                    rustix::process::setrlimit(Resource::Nofile, few).unwrap();
                    let taken: Vec<_> = std::iter::from_fn(|| live_peer.try_clone().ok()).collect();
                    let error = block_on(driver, listener.accept()).unwrap_err();
                    assert_eq!(error.raw_os_error(), Some(Errno::MFILE.raw_os_error()));
                    // Others are unhurt meanwhile.
                    live_peer.write_all(b"alive").unwrap();
                    let (n, _) = block_on(driver, live.read(Vec::with_capacity(5)));
                    assert_eq!(n.unwrap(), 5);
                    drop(taken);
                    rustix::process::setrlimit(Resource::Nofile, limit).unwrap();
                    let (_stream, from) = block_on(driver, listener.accept()).unwrap();
                    assert_eq!(from, peer.local_addr().unwrap());
                });
            }
        },
    );
}

#[test]
fn accepted_sockets_block_and_close_on_exec() {
    on_every_shape(|driver| {
        let (stream, _peer) = pair(driver);
        let fd: OwnedFd = stream.into_fd().unwrap();
        let mode = rustix::fs::fcntl_getfl(&fd).unwrap();
        assert!(!mode.contains(rustix::fs::OFlags::NONBLOCK));
        let flags = rustix::io::fcntl_getfd(&fd).unwrap();
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
    });
}

#[test]
fn several_acceptors_are_each_woken() {
    on_every_shape(|driver| {
        let (listener, addr) = listener(driver);
        let peers: Vec<_> = (0..8).map(|_| StdStream::connect(addr).unwrap()).collect();
        let accepted = block_on(driver, join_all((0..8).map(|_| listener.accept())));
        let mut ours: Vec<_> = accepted
            .into_iter()
            .map(|result| result.unwrap().1)
            .collect();
        let mut theirs: Vec<_> = peers
            .iter()
            .map(|peer| peer.local_addr().unwrap())
            .collect();
        ours.sort();
        theirs.sort();
        assert_eq!(ours, theirs);
    });
}
