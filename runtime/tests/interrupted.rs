//! Signals interrupt the shard's waits while streams take and give pieces of every size.
#![allow(clippy::unwrap_used)]

mod alone;
mod tcp_pair;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use alone::alone;
use corelane::net::TcpStream;
use corelane::signal::Signals;
use corelane::{Driver, IdlePolicy, Placement, Runtime, StartError, spawn};
use nix::sys::pthread::{pthread_kill, pthread_self};
use nix::sys::signal::Signal;
use tcp_pair::pair;

const CONNECTIONS: usize = 16;
/// Bytes a connection, in small pieces and now and then one that no socket takes at once.
const BYTES: usize = 1_200_000;
const PIECE_MAX: usize = 80;
const PIECE_LARGE: usize = 20_000_000;
/// Reads and writes on each of the two drivers: a million together.
const OPERATIONS_MIN: u64 = 500_000;
/// From one signal to the next.
const SIGNAL_EVERY: Duration = Duration::from_micros(200);
/// How long the shard waits while signals come.
const WAITED: Duration = Duration::from_millis(100);

/// A small generator: the same seed gives the same pieces.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

#[derive(Default)]
struct Counts {
    operations: Cell<u64>,
    short_writes: Cell<u64>,
    signals: Cell<u64>,
}

fn add(count: &Cell<u64>) {
    count.set(count.get() + 1);
}

/// The byte at a place of a stream, so that a loss, a repetition and a swap all show.
fn byte(at: usize) -> u8 {
    (at.wrapping_mul(2_654_435_761) >> 13) as u8
}

/// Writes the pattern from `at` to `end` with one piece a call.
async fn send(stream: &TcpStream, at: &mut usize, piece: usize, counts: &Counts) {
    let bytes: Vec<u8> = (*at..*at + piece).map(byte).collect();
    let (wrote, _) = stream.write(bytes).await;
    let wrote = wrote.unwrap();
    add(&counts.operations);
    counts
        .short_writes
        .set(counts.short_writes.get() + u64::from(wrote < piece));
    *at += wrote;
}

async fn write_all(stream: TcpStream, seed: u64, counts: Rc<Counts>) -> usize {
    let mut random = Random(seed);
    let mut at = 0;
    while at < BYTES {
        let piece = 1 + random.below(PIECE_MAX);
        send(&stream, &mut at, piece, &counts).await;
    }
    // One connection sends more than the kernel holds for it.
    if seed == 1 {
        send(&stream, &mut at, PIECE_LARGE, &counts).await;
    }
    at
}

async fn read_all(stream: TcpStream, seed: u64, counts: Rc<Counts>) -> usize {
    let mut random = Random(seed);
    let mut at = 0;
    loop {
        add(&counts.operations);
        let before = at;
        if random.below(8) == 0 {
            for &got in &*stream.read_chunk().await.unwrap() {
                assert_eq!(got, byte(at), "at {at}");
                at += 1;
            }
        } else {
            let room = Vec::with_capacity(1 + random.below(PIECE_MAX));
            let (read, bytes) = stream.read(room).await;
            read.unwrap();
            for got in bytes {
                assert_eq!(got, byte(at), "at {at}");
                at += 1;
            }
        }
        if at == before {
            return at;
        }
    }
}

async fn load() -> Rc<Counts> {
    let counts = Rc::new(Counts::default());
    let heard = Rc::clone(&counts);
    let listener = spawn(async move {
        let mut signals = Signals::new().unwrap();
        loop {
            signals.next().await;
            add(&heard.signals);
        }
    });
    // The listener is there before the first signal.
    corelane::task::yield_now().await;
    let (stop, stopped) = mpsc::channel::<()>();
    // To this thread, which is the shard: the process's signals may go to any.
    let this = pthread_self();
    let signals = std::thread::spawn(move || {
        while stopped.recv_timeout(SIGNAL_EVERY) == Err(RecvTimeoutError::Timeout) {
            pthread_kill(this, Signal::SIGTERM).unwrap();
        }
    });
    // The shard has nothing to do but to wait, and each signal ends a wait.
    corelane::time::sleep(WAITED).await;
    let mut streams = Vec::new();
    for seed in 1..=CONNECTIONS as u64 {
        let (client, server) = pair().await;
        streams.push((
            spawn(write_all(client, seed, Rc::clone(&counts))),
            spawn(read_all(server, seed * 7_919, Rc::clone(&counts))),
        ));
    }
    for (writer, reader) in streams {
        assert_eq!(writer.await.unwrap(), reader.await.unwrap());
    }
    drop(stop);
    signals.join().unwrap();
    listener.abort();
    counts
}

/// Alone, so that the signals meet no other test.
// proves: RT-13
#[test]
fn interruptions_and_short_writes_lose_nothing_in_a_million_operations() {
    alone(
        "interruptions_and_short_writes_lose_nothing_in_a_million_operations",
        || {
            for driver in [Driver::Uring, Driver::Epoll] {
                let builder = Runtime::builder()
                    .placement(Placement::Unpinned(1))
                    .idle(IdlePolicy::Park)
                    .driver(driver);
                let counts = match builder.run(load) {
                    Ok(counts) => counts,
                    Err(StartError::Driver { .. }) if driver == Driver::Uring => {
                        eprintln!("this machine refuses io_uring");
                        continue;
                    }
                    Err(error) => panic!("{driver:?} did not start: {error}"),
                };
                let operations = counts.operations.get();
                assert!(operations >= OPERATIONS_MIN, "{driver:?}: {operations}");
                assert!(counts.short_writes.get() > 0, "{driver:?}");
                assert!(counts.signals.get() > 0, "{driver:?}");
            }
        },
        |program| program.wait_with_output().unwrap(),
    );
}
