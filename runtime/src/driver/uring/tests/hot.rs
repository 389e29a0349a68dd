//! The hot stream of a shard that spins, and parks that gather.

use std::io::Write;

use futures_util::future::join_all;

use super::*;
use crate::driver::uring::ring::Block;

/// Looks until `done` holds; never turns or parks, so only a hot stream delivers.
fn look_until(driver: &Uring, mut done: impl FnMut() -> bool) {
    // Far more than a loopback takes, and an end where nothing comes.
    for _ in 0..50_000_000_u32 {
        driver.look();
        if done() {
            return;
        }
    }
    panic!("the hot stream was not received from");
}

fn said(stream: &Stream) -> Option<Vec<u8>> {
    match poll_once(stream.read(Vec::with_capacity(100))) {
        Poll::Ready((n, buf)) => {
            n.unwrap();
            Some(buf)
        }
        Poll::Pending => None,
    }
}

/// Polls a read with the place that polls share, which stays in the list: a reader that waits.
fn await_bytes(stream: &Stream) -> Poll<usize> {
    let mut buf = [0; 100];
    let read = stream.poll_read(&mut Context::from_waker(Waker::noop()), &mut buf);
    read.map(|n| n.unwrap())
}

// proves: RT-12
#[test]
fn a_hot_stream_is_received_from_without_a_completion() {
    on(SPINNING, |driver| {
        let (stream, mut peer) = pair(driver);
        let before = driver.counters().completions.value();
        for round in 0..100_u8 {
            assert_eq!(await_bytes(&stream), Poll::Pending);
            assert!(stream.socket.hot.get() && stream.socket.receive.get().is_none());
            peer.write_all(&[round; 10]).unwrap();
            look_until(driver, || stream.socket.stash.borrow().chunks() > 0);
            assert_eq!(said(&stream).as_deref(), Some(&[round; 10][..]));
        }
        assert_eq!(driver.counters().completions.value(), before);
    });
}

// proves: RT-13
#[test]
fn a_stream_that_is_hot_no_more_keeps_its_order_and_its_reader() {
    on(SPINNING, |driver| {
        let (first, mut first_peer) = pair(driver);
        let (second, mut second_peer) = pair(driver);
        assert_eq!(await_bytes(&first), Poll::Pending);
        first_peer.write_all(b"one, ").unwrap();
        look_until(driver, || first.socket.stash.borrow().chunks() > 0);
        assert_eq!(said(&first).as_deref(), Some(&b"one, "[..]));
        assert_eq!(await_bytes(&first), Poll::Pending);
        // Another reader's stream takes the place; the first gets a receive of the kernel's.
        assert_eq!(await_bytes(&second), Poll::Pending);
        assert!(!first.socket.hot.get() && first.socket.receive.get().is_some());
        first_peer.write_all(b"two").unwrap();
        second_peer.write_all(b"three").unwrap();
        let both = futures_util::future::join(
            first.read(Vec::with_capacity(100)),
            second.read(Vec::with_capacity(100)),
        );
        let ((_, two), (_, three)) = block_on(driver, both);
        assert_eq!((&two[..], &three[..]), (&b"two"[..], &b"three"[..]));
    });
}

// proves: RT-13
#[test]
fn a_hot_stream_nobody_reads_is_left_to_the_kernel() {
    on(SPINNING, |driver| {
        let (stream, mut peer) = pair(driver);
        assert_eq!(said(&stream), None);
        assert!(stream.socket.hot.get() && !driver.is_hot());
        peer.write_all(&pattern(100_000)).unwrap();
        for _ in 0..100 {
            driver.turn();
        }
        assert_eq!(stream.socket.stash.borrow().chunks(), 0);
        let mut received = Vec::new();
        while received.len() < 100_000 {
            received.extend_from_slice(&block_on(driver, stream.read_chunk()).unwrap());
        }
        assert_eq!(received, pattern(100_000));
        drop(peer);
        assert!(block_on(driver, stream.read_chunk()).unwrap().is_empty());
    });
}

// proves: RT-13
#[test]
fn a_hot_stream_that_is_dropped_is_forgotten() {
    on(SPINNING, |driver| {
        for _ in 0..3 {
            let (stream, _peer) = pair(driver);
            assert_eq!(await_bytes(&stream), Poll::Pending);
            assert!(driver.is_hot());
            drop(stream);
            assert!(!driver.is_hot() && !driver.look());
        }
    });
}

// proves: RT-12
#[test]
fn a_park_in_a_crowd_gathers_and_still_ends_with_the_first_completion() {
    const STREAMS: usize = 8;
    on(NEWEST, |driver| {
        let mut pairs: Vec<_> = (0..STREAMS).map(|_| pair(driver)).collect();
        for round in 0..20_u8 {
            let reads = pairs.iter().map(|(stream, _)| await_bytes(stream));
            assert_eq!(reads.filter(Poll::is_ready).count(), 0, "round {round}");
            // All receives are in the kernel before the bytes come.
            driver.turn();
            for (_, peer) in &mut pairs {
                peer.write_all(&[round; 10]).unwrap();
            }
            let reads = pairs
                .iter()
                .map(|(stream, _)| stream.read(Vec::with_capacity(100)));
            for (n, buf) in block_on(driver, join_all(reads)) {
                assert_eq!((n.unwrap(), &buf[..]), (10, &[round; 10][..]));
            }
        }
        assert!(driver.is_crowded());
        // Parks that brought little may have made a pause, of at most 256.
        let gathers = |_| matches!(driver.block(None), Block::Gather(STREAMS, _));
        assert_eq!((0..300).any(gathers), driver.features().gather);
        // A time-out that is shorter than the window is kept.
        let brief = driver.block(Some(Duration::from_micros(5)));
        assert!(matches!(brief, Block::For(_)), "{brief:?}");
        // One of eight has news: the park ends all the same, or this test does not.
        assert_eq!(await_bytes(&pairs[0].0), Poll::Pending);
        pairs[0].1.write_all(b"alone").unwrap();
        driver.park(None).unwrap();
        assert_eq!(said(&pairs[0].0).as_deref(), Some(&b"alone"[..]));
    });
}
