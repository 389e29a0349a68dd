//! Random operations from a seed: echo streams with short writes, dropped futures, closes.

use futures_util::future::join_all;
use rustix::io::Errno;

use super::*;
use crate::driver::uring::ring::Trouble;

/// A small generator: the same seed gives the same operations.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// So few buffers that they run out, except where a hot stream needs one beside the kernel's.
fn few(shape: Shape, buffers: u16) -> u16 {
    match shape.idle {
        IdlePolicy::Park => buffers,
        _ => shape.buffers,
    }
}

/// One direction of one connection: writes `len` bytes of the pattern in random pieces, some of
/// them through polls that are dropped, and never twice.
async fn write_random(stream: &Stream, sent: &[u8], random: &mut Random, operations: &mut u32) {
    let mut at = 0;
    while at < sent.len() {
        // Mostly small, now and then more than the socket takes.
        let most = if random.below(50) == 0 { 20_000 } else { 200 };
        let piece = 1 + random.below(most).min(sent.len() - at - 1);
        *operations += 1;
        if random.below(3) == 0 {
            let bytes = &sent[at..at + piece];
            at += std::future::poll_fn(|cx| stream.poll_write(cx, bytes))
                .await
                .unwrap();
        } else {
            let (n, _) = stream.write(sent[at..at + piece].to_vec()).await;
            at += n.unwrap();
        }
    }
    stream.shutdown(std::net::Shutdown::Write).unwrap();
}

async fn read_random(stream: &Stream, random: &mut Random, operations: &mut u32) -> Vec<u8> {
    let mut received = Vec::new();
    loop {
        *operations += 1;
        let before = received.len();
        match random.below(4) {
            0 => received.extend_from_slice(&stream.read_chunk().await.unwrap()),
            1 => {
                // A read that is dropped before it is done.
                if let Poll::Ready((n, buf)) = poll_once(stream.read(Vec::with_capacity(300))) {
                    n.unwrap();
                    received.extend_from_slice(&buf);
                } else {
                    continue;
                }
            }
            _ => {
                let (n, buf) = stream
                    .read(Vec::with_capacity(1 + random.below(5000)))
                    .await;
                n.unwrap();
                received.extend_from_slice(&buf);
            }
        }
        if received.len() == before {
            return received;
        }
    }
}

/// 130,000 operations over the four shapes, with every third system call refused.
// proves: RT-13
#[test]
fn random_operations_lose_double_and_swap_nothing() {
    const CONNECTIONS: usize = 16;
    const BYTES: usize = 600_000;
    for (seed, shape) in (1..).zip(SHAPES) {
        let mut operations = 0;
        on(
            Shape {
                entries: 16,
                buffers: few(shape, 8),
                buffer_bytes: 2048,
                ..shape
            },
            |driver| {
                let trouble = Trouble {
                    every: 3,
                    errors: vec![Errno::INTR, Errno::AGAIN, Errno::BUSY],
                };
                driver.ring.borrow_mut().as_mut().unwrap().trouble = trouble;
                let sent = pattern(BYTES);
                let pairs: Vec<_> = (0..CONNECTIONS).map(|_| streams(driver)).collect();
                let runs = pairs.iter().zip(1..).map(|((near, far), n)| {
                    let sent = &sent;
                    async move {
                        set_send_buffer(near, 8192);
                        let mut writer = Random(seed * 1000 + n);
                        let mut reader = Random(seed * 7919 + n);
                        let (mut writes, mut reads) = (0, 0);
                        let write = write_random(near, sent, &mut writer, &mut writes);
                        let read = read_random(far, &mut reader, &mut reads);
                        let ((), received) = futures_util::future::join(write, read).await;
                        assert!(
                            &received == sent,
                            "seed {seed}, connection {n}: bytes differ"
                        );
                        writes + reads
                    }
                });
                operations = block_on(driver, join_all(runs)).iter().sum();
            },
        );
        assert!(operations > 34_000, "{operations}");
    }
}

// proves: RT-13
#[test]
fn streams_that_come_and_go_leave_nothing_behind() {
    for (seed, shape) in (1..).zip(SHAPES) {
        on(
            Shape {
                entries: 16,
                buffers: few(shape, 4),
                buffer_bytes: 512,
                ..shape
            },
            |driver| {
                let mut random = Random(seed);
                let (listener, addr) = listener(driver);
                let mut pool: Vec<Stream> = Vec::new();
                for _ in 0..3_000 {
                    let pick = pool.len().checked_sub(1).map(|last| random.below(last + 1));
                    match (random.below(8), pick) {
                        (0 | 1, _) if pool.len() < 40 => {
                            let connect = Stream::connect(driver, addr);
                            let both = futures_util::future::join(listener.accept(), connect);
                            let (near, far) = block_on(driver, both);
                            pool.extend([near.unwrap().0, far.unwrap()]);
                        }
                        (2, Some(n)) => drop(pool.swap_remove(n)),
                        (3, Some(n)) => drop(poll_once(pool[n].read(vec![0; 100]))),
                        (4, Some(n)) => drop(poll_once(pool[n].read_chunk())),
                        (5, Some(n)) => drop(poll_once(pool[n].write(pattern(5000)))),
                        (6, _) => drop(poll_once(listener.accept())),
                        _ => driver.turn(),
                    }
                }
                pool.clear();
                drop(listener);
                // Each socket holds the driver until its descriptor closes.
                turn_until(driver, || Rc::strong_count(driver) == 1);
            },
        );
    }
}
