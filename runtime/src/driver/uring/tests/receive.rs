//! Receiving: order, stash, limits, buffers that run out.

use std::io::Write;
use std::net::Shutdown;

use futures_util::future::{join, join_all};

use super::*;

async fn read_all(stream: &Stream, room: usize) -> Vec<u8> {
    let mut received = Vec::new();
    let mut buf = Vec::with_capacity(room);
    loop {
        let (n, filled) = stream.read(buf).await;
        if n.unwrap() == 0 {
            return received;
        }
        received.extend_from_slice(&filled);
        buf = filled;
        buf.clear();
    }
}

async fn read_exactly(stream: &Stream, len: usize, room: usize) -> Vec<u8> {
    let mut received = Vec::new();
    while received.len() < len {
        let want = room.min(len - received.len());
        let (n, filled) = stream.read(vec![0; want].into_boxed_slice()).await;
        received.extend_from_slice(&filled[..n.unwrap()]);
    }
    received
}

// proves: RT-12
#[test]
fn an_armed_receive_delivers_without_further_operations() {
    on(NEWEST, |driver| {
        let (stream, mut peer) = pair(driver);
        assert!(poll_once(stream.read(Vec::with_capacity(8))).is_pending());
        let operations = driver.counters().operations.value();
        for round in 0..100_u8 {
            peer.write_all(&[round; 8]).unwrap();
            let read = block_on(driver, read_exactly(&stream, 8, 8));
            assert_eq!(read, [round; 8]);
        }
        assert_eq!(driver.counters().operations.value(), operations);
    });
}

// proves: RT-12
#[test]
fn bytes_that_are_there_are_received_at_once() {
    on_every_shape(|driver| {
        let (stream, mut peer) = pair(driver);
        peer.write_all(b"ready").unwrap();
        let inline = driver.counters().inline_io.value();
        // Loopback delivers before the write returns.
        let read = poll_once(stream.read(Vec::with_capacity(8)));
        assert!(matches!(read, Poll::Ready((Ok(5), buf)) if buf == b"ready"));
        assert_eq!(driver.counters().inline_io.value(), inline + 1);
    });
}

// proves: RT-13
#[test]
fn a_cancelled_read_loses_no_byte() {
    on_every_shape(|driver| {
        let (stream, mut peer) = pair(driver);
        let sent = pattern(2000);
        let mut received = Vec::new();
        for (round, piece) in sent.chunks(7).enumerate() {
            for _ in 0..round % 3 {
                // What a single poll gives counts; what it does not give must come later.
                if round % 2 == 0 {
                    if let Poll::Ready((n, buf)) = poll_once(stream.read(Vec::with_capacity(3))) {
                        received.extend_from_slice(&buf[..n.unwrap()]);
                    }
                } else if let Poll::Ready(chunk) = poll_once(stream.read_chunk()) {
                    received.extend_from_slice(&chunk.unwrap());
                }
            }
            peer.write_all(piece).unwrap();
            driver.turn();
        }
        drop(peer);
        received.extend(block_on(driver, read_all(&stream, 64)));
        assert_eq!(received, sent);
    });
}

#[test]
fn chunks_and_reads_share_one_order() {
    on_every_shape(|driver| {
        let (stream, mut peer) = pair(driver);
        let sent = pattern(64 * 1024);
        let writer = {
            let sent = sent.clone();
            std::thread::spawn(move || {
                for piece in sent.chunks(1000) {
                    peer.write_all(piece).unwrap();
                }
            })
        };
        let received = block_on(driver, async {
            let mut received = Vec::new();
            for turn in 0.. {
                if turn % 2 == 0 {
                    let (n, buf) = stream.read(vec![0; 700].into_boxed_slice()).await;
                    match n.unwrap() {
                        0 => break,
                        n => received.extend_from_slice(&buf[..n]),
                    }
                } else {
                    let chunk = stream.read_chunk().await.unwrap();
                    if chunk.is_empty() {
                        break;
                    }
                    received.extend_from_slice(&chunk);
                }
            }
            received
        });
        writer.join().unwrap();
        assert_eq!(received, sent);
    });
}

#[test]
fn the_end_is_told_again_and_again() {
    on_every_shape(|driver| {
        let (stream, mut peer) = pair(driver);
        peer.write_all(b"last").unwrap();
        peer.shutdown(Shutdown::Write).unwrap();
        assert_eq!(block_on(driver, read_all(&stream, 16)), b"last");
        for _ in 0..3 {
            assert_eq!(block_on(driver, stream.read(vec![0; 4])).0.unwrap(), 0);
            assert!(block_on(driver, stream.read_chunk()).unwrap().is_empty());
        }
    });
}

#[test]
fn a_reset_is_an_error_after_the_bytes_before_it() {
    on_every_shape(|driver| {
        let (stream, peer) = pair(driver);
        assert!(poll_once(stream.read(Vec::with_capacity(8))).is_pending());
        driver.turn();
        rustix::net::sockopt::set_socket_linger(&peer, Some(Duration::ZERO)).unwrap();
        drop(peer);
        let error = block_on(driver, stream.read(vec![0; 4])).0.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    });
}

#[test]
fn a_buffer_without_room_reads_nothing() {
    on_every_shape(|driver| {
        let (stream, _peer) = pair(driver);
        assert!(matches!(
            poll_once(stream.read(Vec::new())),
            Poll::Ready((Ok(0), _))
        ));
    });
}

#[test]
fn a_stash_that_nobody_empties_ends_its_receive_and_loses_nothing() {
    on(NEWEST, |driver| {
        let (stream, mut peer) = pair(driver);
        assert!(poll_once(stream.read(Vec::with_capacity(1))).is_pending());
        let sent = pattern(40_000);
        for piece in sent.chunks(1000) {
            peer.write_all(piece).unwrap();
            driver.turn();
        }
        turn_until(driver, || stream.socket.receive.get().is_none());
        let stashed = stream.socket.stash.borrow().chunks();
        assert!(stashed < 40, "{stashed} chunks are stashed");
        drop(peer);
        assert_eq!(block_on(driver, read_all(&stream, 333)), sent);
    });
}

// proves: RT-12
#[test]
fn connections_live_on_when_receive_buffers_run_out() {
    for shape in SHAPES {
        on(
            Shape {
                buffers: 2,
                buffer_bytes: 512,
                ..shape
            },
            |driver| {
                let pairs: Vec<_> = (0..64).map(|_| pair(driver)).collect();
                let sent = pattern(5000);
                // Every stream has news at once, for two buffers.
                for (stream, _) in &pairs {
                    assert!(poll_once(stream.read(Vec::with_capacity(1))).is_pending());
                }
                driver.turn();
                for (_, peer) in &pairs {
                    (&mut &*peer).write_all(&sent).unwrap();
                    peer.shutdown(Shutdown::Write).unwrap();
                }
                let by_read = pairs
                    .iter()
                    .take(32)
                    .map(|(stream, _)| read_all(stream, 777));
                let by_chunk = pairs.iter().skip(32).map(|(stream, _)| async {
                    let mut received = Vec::new();
                    loop {
                        let chunk = stream.read_chunk().await.unwrap();
                        if chunk.is_empty() {
                            return received;
                        }
                        received.extend_from_slice(&chunk);
                    }
                });
                let (read, chunks) = block_on(driver, join(join_all(by_read), join_all(by_chunk)));
                for received in read.iter().chain(&chunks) {
                    assert!(received == &sent, "a stream lost bytes");
                }
                let exhausted = driver.counters().buffers_exhausted.value();
                assert_eq!(exhausted > 0, driver.features().multishot_receive);
            },
        );
    }
}

#[test]
fn a_held_chunk_makes_others_wait_until_it_returns() {
    for shape in SHAPES {
        on(
            Shape {
                buffers: 1,
                ..shape
            },
            |driver| {
                let (first, mut first_peer) = pair(driver);
                let (second, mut second_peer) = pair(driver);
                first_peer.write_all(b"first").unwrap();
                second_peer.write_all(b"second").unwrap();
                let held = block_on(driver, first.read_chunk()).unwrap();
                assert!(poll_once(second.read_chunk()).is_pending());
                // A read needs no buffer of the shard.
                let (n, buf) = block_on(driver, second.read(vec![0; 3].into_boxed_slice()));
                assert_eq!((n.unwrap(), &buf[..]), (3, &b"sec"[..]));
                assert_eq!(&held[..], b"first");
                let (chunk, ()) = block_on(driver, join(second.read_chunk(), async { drop(held) }));
                assert_eq!(&chunk.unwrap()[..], b"ond");
            },
        );
    }
}

#[test]
fn a_dropped_stream_that_waited_for_a_buffer_closes_at_once() {
    on(
        Shape {
            buffers: 1,
            ..NEWEST
        },
        |driver| {
            let (first, mut first_peer) = pair(driver);
            let (second, mut second_peer) = pair(driver);
            first_peer.write_all(b"first").unwrap();
            let _held = block_on(driver, first.read_chunk()).unwrap();
            assert!(poll_once(second.read_chunk()).is_pending());
            drop(second);
            driver.turn();
            assert_eq!(
                std::io::Read::read(&mut second_peer, &mut [0; 4]).unwrap(),
                0
            );
        },
    );
}

#[test]
fn a_chunk_after_a_large_read_waits_for_a_receive_and_does_not_spin() {
    // Every buffer is the kernel's, and the large read makes the stream wait by a poll.
    on(
        Shape {
            buffers: 2,
            buffer_bytes: 512,
            ..NEWEST
        },
        |driver| {
            let (stream, mut peer) = pair(driver);
            peer.write_all(&pattern(2000)).unwrap();
            let (n, _) = block_on(driver, stream.read(vec![0; 2000].into_boxed_slice()));
            assert_eq!(n.unwrap(), 2000);
            assert!(poll_once(stream.read(Vec::with_capacity(2000))).is_pending());
            driver.turn();
            let operations = driver.counters().operations.value();
            peer.write_all(b"piece").unwrap();
            assert_eq!(
                &block_on(driver, stream.read_chunk()).unwrap()[..],
                b"piece"
            );
            assert_eq!(
                driver.counters().operations.value() - operations,
                1,
                "one receive"
            );
        },
    );
}

#[test]
fn several_readers_are_each_woken() {
    on_every_shape(|driver| {
        let (stream, mut peer) = pair(driver);
        let reads = join_all((0..4).map(|_| read_exactly(&stream, 4, 4)));
        let write = async { peer.write_all(&pattern(16)).unwrap() };
        let (pieces, ()) = block_on(driver, join(reads, write));
        let mut bytes = pieces.concat();
        let mut sent = pattern(16);
        bytes.sort_unstable();
        sent.sort_unstable();
        assert_eq!(bytes, sent);
    });
}

#[test]
fn poll_read_keeps_the_waker_of_the_last_caller() {
    on_every_shape(|driver| {
        let (stream, mut peer) = pair(driver);
        let mut buf = [0; 8];
        let pending = stream.poll_read(&mut Context::from_waker(Waker::noop()), &mut buf);
        assert!(pending.is_pending());
        peer.write_all(b"abc").unwrap();
        let n = block_on(
            driver,
            std::future::poll_fn(|cx| stream.poll_read(cx, &mut buf)),
        );
        assert_eq!(&buf[..n.unwrap()], b"abc");
    });
}
