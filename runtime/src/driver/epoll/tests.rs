//! The backend alone, under an executor of one future. What a user sees is tested on every backend
//! in `tests/tcp_*.rs`.

use std::future::poll_fn;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener as StdListener, TcpStream as StdStream};
use std::os::fd::AsRawFd;
use std::pin::pin;
use std::sync::Barrier;
use std::task::{Context, Poll, Wake};
use std::thread;

use futures_util::future::{join, join_all};

use super::*;
use crate::driver::bell::Bell;
use crate::driver::transfer::Transfer;
use crate::net::ListenOptions;
use crate::settings::IdlePolicy;
use crate::sync::{AtomicBool, Ordering};

/// Fruitless waits, of a tenth of a second each, before a test gives up.
const PATIENCE: u32 = 300;

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        // Relaxed: set and read on one thread.
        self.0.store(true, Ordering::Relaxed);
    }
}

fn driver_with(buffers: u16, buffer_bytes: usize) -> (Rc<Epoll>, &'static Bell) {
    let bell = Bell::for_test();
    let counters = Arc::default();
    let parts = DriverParts {
        bell,
        counters,
        ring_entries: 8,
        buffers,
        buffer_bytes,
        idle: IdlePolicy::Park,
    };
    (Epoll::open(parts).unwrap(), bell)
}

fn driver() -> Rc<Epoll> {
    driver_with(16, 4096).0
}

fn block_on<F: Future>(driver: &Epoll, future: F) -> F::Output {
    let woken = Arc::new(Woken(AtomicBool::new(true)));
    let waker = Waker::from(Arc::clone(&woken));
    let mut future = pin!(future);
    for _ in 0..PATIENCE {
        while woken.0.swap(false, Ordering::Relaxed) {
            match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(output) => return output,
                Poll::Pending => driver.turn(),
            }
        }
        driver.park(Some(Duration::from_millis(100))).unwrap();
    }
    panic!("nobody woke the future");
}

fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

fn loopback() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

fn listener(driver: &Rc<Epoll>) -> (Listener, SocketAddr) {
    let listener = Listener::bind(driver, loopback(), &ListenOptions::new()).unwrap();
    let addr = listener.local_addr().unwrap();
    (listener, addr)
}

/// A stream on the driver, and its peer, a socket of std.
fn pair(driver: &Rc<Epoll>) -> (Stream, StdStream) {
    let (listener, addr) = listener(driver);
    let peer = StdStream::connect(addr).unwrap();
    let (stream, from) = block_on(driver, listener.accept()).unwrap();
    assert_eq!(from, peer.local_addr().unwrap());
    (stream, peer)
}

// proves: RT-14
#[test]
fn park_ends_when_its_time_is_over() {
    let driver = driver();
    for timeout in [
        Duration::from_nanos(1),
        Duration::from_micros(300),
        Duration::from_millis(2),
    ] {
        while driver.armed.get().is_none() {
            driver.arm(timeout).unwrap();
        }
        // Ends by the timer alone, which is unset when its event was seen.
        driver.park(Some(Duration::MAX)).unwrap();
        assert_eq!(driver.armed.get(), None);
    }
    driver.park(Some(Duration::ZERO)).unwrap();
    assert_eq!(driver.armed.get(), None, "no time needs no timer");
}

/// A clock that is set (by hand, by a time server, by an hour) is `CLOCK_REALTIME`, number 0.
// proves: RT-14
#[test]
fn parks_are_timed_by_a_clock_that_nobody_sets() {
    let driver = driver();
    let info = format!("/proc/self/fdinfo/{}", driver.timer.as_raw_fd());
    let info = std::fs::read_to_string(info).unwrap();
    let clock = info.lines().find_map(|line| line.strip_prefix("clockid:"));
    assert_eq!(clock.map(str::trim), Some("1"), "CLOCK_MONOTONIC: {info}");
}

#[test]
fn an_earlier_deadline_replaces_a_later_one() {
    let driver = driver();
    driver.arm(Duration::from_secs(3600)).unwrap();
    let late = driver.armed.get();
    driver.arm(Duration::from_secs(7200)).unwrap();
    assert_eq!(driver.armed.get(), late);
    driver.park(Some(Duration::from_millis(1))).unwrap();
    assert_eq!(driver.armed.get(), None);
}

#[test]
fn the_bell_ends_a_park_rung_before_or_within() {
    let (driver, bell) = driver_with(1, 16);
    for round in 0..200 {
        let epoch = bell.sleep.prepare();
        let ringer = thread::spawn(move || bell.ring_event(epoch));
        if round % 2 == 0 {
            ringer.join().unwrap();
            driver.park(None).unwrap();
        } else {
            driver.park(None).unwrap();
            ringer.join().unwrap();
        }
        bell.sleep.awake();
    }
}

// proves: RT-13
#[test]
fn a_dropped_read_takes_no_bytes() {
    let driver = driver();
    let (stream, mut peer) = pair(&driver);
    let mut received = Vec::new();
    let sent: Vec<u8> = (0..2000_u32).map(|n| n as u8).collect();
    for (round, piece) in sent.chunks(7).enumerate() {
        for _ in 0..round % 3 {
            // Whatever a single poll gives counts; what it does not give must come later.
            match round % 2 {
                0 => match poll_once(stream.read(Vec::with_capacity(3))) {
                    Poll::Ready((n, buf)) => received.extend_from_slice(&buf[..n.unwrap()]),
                    Poll::Pending => {}
                },
                _ => match poll_once(stream.read_chunk()) {
                    Poll::Ready(chunk) => received.extend_from_slice(&chunk.unwrap()),
                    Poll::Pending => {}
                },
            }
            driver.turn();
        }
        peer.write_all(piece).unwrap();
    }
    peer.shutdown(Shutdown::Write).unwrap();
    block_on(&driver, async {
        loop {
            let chunk = stream.read_chunk().await.unwrap();
            if chunk.is_empty() {
                break;
            }
            received.extend_from_slice(&chunk);
        }
    });
    assert_eq!(received, sent);
}

// proves: RT-13
#[test]
fn a_dropped_accept_takes_no_connection() {
    let driver = driver();
    let (listener, addr) = listener(&driver);
    let mut accepted = Vec::new();
    let mut peers = Vec::new();
    for round in 0..100 {
        if let Poll::Ready(connection) = poll_once(listener.accept()) {
            accepted.push(connection.unwrap());
        }
        if round % 3 != 0 {
            peers.push(StdStream::connect(addr).unwrap());
        }
        driver.turn();
    }
    while accepted.len() < peers.len() {
        accepted.push(block_on(&driver, listener.accept()).unwrap());
    }
    let expected: Vec<_> = peers
        .iter()
        .map(|peer| peer.local_addr().unwrap())
        .collect();
    let found: Vec<_> = accepted.iter().map(|(_, from)| *from).collect();
    assert_eq!(found, expected);
}

// proves: RT-13
#[test]
fn a_dropped_write_sent_nothing_that_was_not_reported() {
    let driver = driver();
    let (stream, mut peer) = pair(&driver);
    let mut written = 0;
    while let Poll::Ready((n, _)) = poll_once(stream.write(vec![7; 100_000])) {
        written += n.unwrap();
    }
    let reader = thread::spawn(move || {
        let mut all = Vec::new();
        peer.read_to_end(&mut all).unwrap();
        all
    });
    written += block_on(&driver, stream.write(vec![7; 1000])).0.unwrap();
    drop(stream);
    assert_eq!(reader.join().unwrap().len(), written);
}

#[test]
fn the_end_is_found_when_it_came_with_the_last_bytes() {
    let driver = driver();
    let (stream, mut peer) = pair(&driver);
    let waited = thread::spawn(move || {
        peer.write_all(b"last words").unwrap();
        drop(peer);
    });
    // The first read waits, so that bytes and end may be one event; the second must not wait again.
    let (n, buf) = block_on(&driver, stream.read(vec![0; 64]));
    waited.join().unwrap();
    driver.turn();
    let mut all = buf[..n.unwrap()].to_vec();
    loop {
        let (n, buf) = block_on(&driver, stream.read(vec![0; 64]));
        if n.unwrap() == 0 {
            break;
        }
        all.extend_from_slice(&buf);
    }
    assert_eq!(all, b"last words");
}

#[test]
fn all_who_wait_at_one_socket_are_served() {
    let driver = driver();
    let (listener, addr) = listener(&driver);
    let start = Arc::new(Barrier::new(2));
    let clients = thread::spawn({
        let start = Arc::clone(&start);
        move || {
            start.wait();
            let connect = |_| StdStream::connect(addr).unwrap();
            (0..5).map(connect).collect::<Vec<_>>()
        }
    });
    let mut accepts = Vec::from_iter((0..5).map(|_| Box::pin(listener.accept())));
    for accept in &mut accepts {
        assert!(
            accept
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
        );
    }
    start.wait();
    let accepted = block_on(&driver, join_all(accepts));
    assert!(accepted.iter().all(Result::is_ok));
    clients.join().unwrap();
}

#[test]
fn a_reader_waits_for_a_returned_buffer() {
    let (driver, _) = driver_with(1, 64);
    let (first, mut first_peer) = pair(&driver);
    let (second, mut second_peer) = pair(&driver);
    first_peer.write_all(b"one").unwrap();
    second_peer.write_all(b"two").unwrap();
    let one = block_on(&driver, first.read_chunk()).unwrap();
    let exhausted = &driver.counters.buffers_exhausted;
    let (two, ()) = block_on(&driver, async {
        let give_back = poll_fn({
            let mut one = Some(one);
            move |cx| match exhausted.value() {
                // The other side has not come to its wait yet.
                0 => {
                    cx.waker().wake_by_ref();
                    Poll::Pending
                }
                _ => {
                    assert_eq!(one.take().as_deref(), Some(&b"one"[..]));
                    Poll::Ready(())
                }
            }
        });
        join(second.read_chunk(), give_back).await
    });
    assert_eq!(&two.unwrap()[..], b"two");
    assert_eq!(exhausted.value(), 1);
}

#[test]
fn megabytes_pass_both_ways_through_full_sockets() {
    let driver = driver();
    let (stream, mut peer) = pair(&driver);
    let bytes: Vec<u8> = (0..8_000_000_u32).map(|n| (n / 251) as u8).collect();
    let echo = thread::spawn(move || {
        let mut reading = peer.try_clone().unwrap();
        std::io::copy(&mut reading, &mut peer).unwrap();
        peer.shutdown(Shutdown::Write).unwrap();
    });
    let write = async {
        let mut sent = 0;
        while sent < bytes.len() {
            let piece = bytes[sent..bytes.len().min(sent + 300_000)].to_vec();
            sent += stream.write(piece).await.0.unwrap();
        }
        stream.shutdown(Shutdown::Write).unwrap();
    };
    let read = async {
        let mut all = Vec::new();
        let mut buf = Vec::with_capacity(100_000);
        loop {
            let (n, filled) = stream.read(buf).await;
            if n.unwrap() == 0 {
                return all;
            }
            all.extend_from_slice(&filled);
            buf = filled;
        }
    };
    let ((), all) = block_on(&driver, join(write, read));
    assert!(all == bytes, "{} bytes came back", all.len());
    echo.join().unwrap();
}

#[test]
fn connecting_gives_a_stream_or_the_kernels_reason() {
    let driver = driver();
    let peer = StdListener::bind(loopback()).unwrap();
    let addr = peer.local_addr().unwrap();
    let stream = block_on(&driver, Stream::connect(&driver, addr)).unwrap();
    let (mut accepted, from) = peer.accept().unwrap();
    assert_eq!(
        (stream.local_addr().unwrap(), stream.peer_addr().unwrap()),
        (from, addr)
    );
    block_on(&driver, stream.write("hello")).0.unwrap();
    let mut hello = [0; 5];
    accepted.read_exact(&mut hello).unwrap();
    assert_eq!(&hello, b"hello");
    drop((peer, accepted));
    let refused = block_on(&driver, Stream::connect(&driver, addr)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn a_socket_that_left_blocks_as_std_expects_and_may_come_back() {
    let driver = driver();
    let (stream, mut peer) = pair(&driver);
    assert!(poll_once(stream.read(vec![0; 8])).is_pending());
    let mut outside = StdStream::from(stream.into_fd().unwrap());
    let duplicate = outside.try_clone().unwrap();
    assert!(!driver.needs_turn());
    let reader = thread::spawn(move || {
        let mut word = [0; 4];
        outside.read_exact(&mut word).unwrap();
        (word, outside)
    });
    peer.write_all(b"wordmore").unwrap();
    let (word, outside) = reader.join().unwrap();
    assert_eq!(&word, b"word");
    let back = Stream::from_fd(&driver, outside.into()).unwrap();
    let (n, buf) = block_on(&driver, back.read(vec![0; 8]));
    assert_eq!((n.unwrap(), &buf[..]), (4, &b"more"[..]));
    // The duplicate keeps the connection, not the registration.
    assert!(poll_once(back.read(vec![0; 8])).is_pending());
    drop(back);
    assert!(!driver.needs_turn());
    peer.write_all(b"to nobody").unwrap();
    driver.turn();
    drop(duplicate);
}

#[test]
fn a_closed_driver_refuses_to_wait() {
    let driver = driver();
    let (stream, _peer) = pair(&driver);
    let mut read = pin!(stream.read(vec![0; 8]));
    assert!(
        read.as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_pending()
    );
    assert_eq!(driver.close(Duration::ZERO).unwrap(), 0);
    let (result, buf) = block_on(&driver, read);
    assert_eq!(
        result.unwrap_err().raw_os_error(),
        Some(Errno::CANCELED.raw_os_error())
    );
    assert_eq!(buf.len(), 8);
}
