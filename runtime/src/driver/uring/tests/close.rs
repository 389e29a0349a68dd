//! The end of a driver, and of a stream with operations in flight.

use std::io::{ErrorKind, Read, Write};

use rustix::event::PollFlags;

use super::*;
use crate::driver::uring::driver::Op;

// proves: RT-23
#[test]
fn ten_thousand_operations_in_flight_end_within_the_limit() {
    for shape in SHAPES {
        let (driver, _) = open(Shape {
            buffers: 1024,
            buffer_bytes: 512,
            ..shape
        });
        let mut pairs = Vec::new();
        for _ in 0..250 {
            pairs.push(streams(&driver));
        }
        // Each stream waits for bytes; polls of descriptors make up the rest.
        for (near, far) in &pairs {
            for stream in [near, far] {
                assert!(poll_once(stream.read(Vec::with_capacity(8))).is_pending());
            }
        }
        driver.turn();
        let mut extra = 0;
        while driver.in_flight() < 10_000 {
            let socket = &pairs[extra % pairs.len()].0.socket;
            socket
                .poll_once(Op::Readable(Rc::clone(socket)), PollFlags::IN)
                .unwrap();
            extra += 1;
        }
        driver.turn();
        assert!(
            driver.in_flight() >= 10_000,
            "{} in flight",
            driver.in_flight()
        );
        let left = driver.close(Duration::from_secs(20)).unwrap();
        assert_eq!((left, driver.in_flight()), (0, 0));
        let error = block_on_closed(&pairs[0].0);
        assert_eq!(error.kind(), ErrorKind::Other);
        drop(pairs);
        assert_eq!(Rc::strong_count(&driver), 1);
    }
}

/// A read on a driver that is closed: it must not wait.
fn block_on_closed(stream: &Stream) -> std::io::Error {
    match poll_once(stream.read(Vec::with_capacity(8))) {
        Poll::Ready((result, _)) => result.unwrap_err(),
        Poll::Pending => panic!("a closed driver let a read wait"),
    }
}

// proves: RT-13
#[test]
fn a_dropped_stream_closes_after_its_operations() {
    on_every_shape(|driver| {
        for round in 0..50 {
            let (stream, mut peer) = pair(driver);
            assert!(poll_once(stream.read(Vec::with_capacity(8))).is_pending());
            if round % 2 == 0 {
                driver.turn();
            }
            if round % 3 == 0 {
                peer.write_all(b"on its way").unwrap();
            }
            drop(stream);
            turn_until(driver, || driver.in_flight() == 1);
            assert!(!matches!(peer.read(&mut [0; 4]), Ok(1..)));
        }
    });
}

#[test]
fn a_descriptor_taken_out_works_without_the_driver() {
    on_every_shape(|driver| {
        let (stream, mut peer) = pair(driver);
        assert!(poll_once(stream.read(Vec::with_capacity(8))).is_pending());
        driver.turn();
        let mut std = StdStream::from(stream.into_fd().unwrap());
        assert_eq!(driver.in_flight(), 1, "the bell alone");
        peer.write_all(b"hello").unwrap();
        let mut buf = [0; 5];
        std.read_exact(&mut buf).unwrap();
        assert_eq!(&buf, b"hello");
        let back = Stream::from_fd(driver, std.into()).unwrap();
        peer.write_all(b"again").unwrap();
        let (n, buf) = block_on(driver, back.read(Vec::with_capacity(5)));
        assert_eq!((n.unwrap(), &buf[..]), (5, &b"again"[..]));
    });
}

#[test]
fn unread_bytes_keep_a_descriptor_from_being_taken_out() {
    on(NEWEST, |driver| {
        let (stream, mut peer) = pair(driver);
        assert!(poll_once(stream.read(Vec::with_capacity(8))).is_pending());
        driver.turn();
        peer.write_all(b"unread").unwrap();
        turn_until(driver, || stream.socket.stash.borrow().chunks() == 1);
        let error = stream.into_fd().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ResourceBusy);
    });
}

#[test]
fn what_the_kernel_keeps_beyond_the_limit_is_leaked_and_counted() {
    alone(
        "close::what_the_kernel_keeps_beyond_the_limit_is_leaked_and_counted",
        || {
            let (driver, _) = open(Shape {
                entries: 16,
                ..NEWEST
            });
            let pairs: Vec<_> = (0..100).map(|_| pair(&driver)).collect();
            for (stream, _) in &pairs {
                assert!(poll_once(stream.read(Vec::with_capacity(8))).is_pending());
            }
            while driver.needs_turn() {
                driver.turn();
            }
            // Without time, the cancels beyond the queue's length are never submitted.
            let left = driver.close(Duration::ZERO).unwrap();
            assert!(left > 0);
            assert_eq!(driver.counters().leaked_operations.value(), left as u64);
            let (streams, peers): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            drop(streams);
            let still_open = peers.iter().filter(|peer| {
                peer.set_nonblocking(true).unwrap();
                let error = (&mut &**peer)
                    .read(&mut [0; 4])
                    .map_err(|error| error.kind());
                error == Err(ErrorKind::WouldBlock)
            });
            assert_eq!(
                still_open.count(),
                left,
                "their descriptors are the kernel's"
            );
        },
    );
}

#[test]
fn a_refused_ring_is_told_as_such() {
    let bell = bell();
    let parts = DriverParts {
        bell,
        counters: Arc::default(),
        ring_entries: 64,
        // No such pool: the error of a part that cannot be made.
        buffers: 0,
        buffer_bytes: 4096,
        idle: IdlePolicy::Park,
    };
    let error = Uring::open(parts).unwrap_err();
    assert!(matches!(error, crate::error::DriverError::UringRefused(_)));
    assert_eq!(bell.ring_fd(), None);
}

#[test]
fn a_closing_driver_still_rings_others() {
    let (driver, _) = open(NEWEST);
    let (sleeper, target) = open(NEWEST);
    let queued = target.sleep.prepare();
    driver.ring(target, queued);
    assert_eq!(driver.close(Duration::from_secs(10)).unwrap(), 0);
    assert_eq!(target.sleep.sleeper(), None, "rung by what was queued");
    target.sleep.awake();
    let late = target.sleep.prepare();
    driver.ring(target, late);
    assert_eq!(
        target.sleep.sleeper(),
        None,
        "rung at once, through the eventfd"
    );
    sleeper.park(None).unwrap();
    assert_eq!(sleeper.close(Duration::from_secs(10)).unwrap(), 0);
}
