//! The simulated backend alone, under an executor of one future.

use std::future::poll_fn;
use std::io::ErrorKind;
use std::net::{Shutdown, SocketAddr};
use std::pin::pin;
use std::task::{Context, Poll, Wake, Waker};

use futures_util::future::{join, join_all};

use super::connection::WINDOW_BYTES;
use super::*;
use crate::driver::bell::Bell;
use crate::driver::transfer::Transfer;
use crate::net::ListenOptions;
use crate::settings::IdlePolicy;
use crate::sync::{AtomicBool, Ordering};

/// Steps before a test gives up.
const STEPS_MAX: usize = 1_000_000;

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        // Relaxed: set and read on one thread.
        self.0.store(true, Ordering::Relaxed);
    }
}

fn drivers(seed: u64, shards: usize, buffers: u16) -> (Rc<World>, Vec<Rc<SimDriver>>) {
    let world = World::new(seed, shards);
    let drivers = (0..shards).map(|shard| {
        let bell = Bell::for_test();
        let parts = DriverParts {
            bell,
            counters: Arc::default(),
            ring_entries: 8,
            buffers,
            buffer_bytes: 4096,
            idle: IdlePolicy::Park,
        };
        SimDriver::open(&world, shard, parts).unwrap()
    });
    let drivers = drivers.collect();
    (world, drivers)
}

/// Runs the future, the drivers and the clock until the future is ready.
fn block_on<F: Future>(world: &World, drivers: &[Rc<SimDriver>], future: F) -> F::Output {
    match try_block_on(world, drivers, future) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("nothing is to come"),
    }
}

/// Pending when the future waits for ever.
fn try_block_on<F: Future>(world: &World, drivers: &[Rc<SimDriver>], future: F) -> Poll<F::Output> {
    let woken = Arc::new(Woken(AtomicBool::new(true)));
    let waker = Waker::from(Arc::clone(&woken));
    let mut future = pin!(future);
    for _ in 0..STEPS_MAX {
        while woken.0.swap(false, Ordering::Relaxed) {
            let poll = future.as_mut().poll(&mut Context::from_waker(&waker));
            if poll.is_ready() {
                return poll;
            }
        }
        let mut has_news = false;
        for driver in drivers.iter().filter(|driver| driver.needs_turn()) {
            driver.turn();
            has_news = true;
        }
        match world.next_delivery() {
            _ if has_news => {}
            Some(next) => world.advance(next),
            None => return Poll::Pending,
        }
    }
    panic!("no end after {STEPS_MAX} steps");
}

fn loopback(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

struct Pair {
    world: Rc<World>,
    drivers: Vec<Rc<SimDriver>>,
    client: Stream,
    server: Stream,
}

impl Pair {
    /// A client on shard 0 and a server on shard 1.
    fn new(seed: u64) -> Self {
        let (world, drivers) = drivers(seed, 2, 16);
        let listener = Listener::bind(&drivers[1], loopback(0), &ListenOptions::new()).unwrap();
        let addr = listener.local_addr().unwrap();
        let both = join(Stream::connect(&drivers[0], addr), listener.accept());
        let (client, accepted) = block_on(&world, &drivers, both);
        let (client, (server, from)) = (client.unwrap(), accepted.unwrap());
        assert_eq!(from, client.local_addr().unwrap());
        assert_eq!(client.peer_addr().unwrap(), addr);
        assert_eq!(server.local_addr().unwrap(), addr);
        Self {
            world,
            drivers,
            client,
            server,
        }
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        block_on(&self.world, &self.drivers, future)
    }

    /// Lets everything arrive that is under way.
    fn settle(&self) {
        let poll = try_block_on(&self.world, &self.drivers, std::future::pending::<()>());
        assert!(poll.is_pending());
    }
}

async fn write_all(stream: &Stream, bytes: &[u8]) {
    let mut rest = bytes;
    while !rest.is_empty() {
        let n = poll_fn(|cx| stream.poll_write(cx, rest)).await.unwrap();
        rest = &rest[n..];
    }
}

async fn read_to_end(stream: &Stream) -> (Vec<u8>, usize) {
    let (mut received, mut reads) = (Vec::new(), 0);
    loop {
        let (n, buf) = stream.read(Vec::with_capacity(1000)).await;
        if n.unwrap() == 0 {
            return (received, reads);
        }
        received.extend(buf);
        reads += 1;
    }
}

fn bytes(count: usize) -> Vec<u8> {
    (0..count as u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect()
}

// proves: RT-22
#[test]
fn bytes_arrive_in_order_and_in_pieces() {
    for seed in 0..20 {
        let pair = Pair::new(seed);
        let sent = bytes(3 * WINDOW_BYTES + 17);
        let send = async {
            write_all(&pair.client, &sent).await;
            pair.client.shutdown(Shutdown::Write).unwrap();
            read_to_end(&pair.client).await.0
        };
        let echo = async {
            let (received, reads) = read_to_end(&pair.server).await;
            // Half closed: this direction still works.
            write_all(&pair.server, &received[..1000]).await;
            pair.server.shutdown(Shutdown::Write).unwrap();
            (received, reads)
        };
        let (answer, (received, reads)) = pair.block_on(join(send, echo));
        assert_eq!(received, sent);
        assert_eq!(answer, sent[..1000]);
        assert!(reads > sent.len() / 1000, "seed {seed}: no read was short");
    }
}

// proves: RT-22
#[test]
fn one_seed_gives_one_trace_and_another_seed_another() {
    let run = |seed| {
        let pair = Pair::new(seed);
        let send = async {
            write_all(&pair.client, &bytes(20_000)).await;
            pair.client.shutdown(Shutdown::Both).unwrap();
        };
        pair.block_on(join(send, read_to_end(&pair.server)));
        (pair.world.trace_hash(), pair.world.now())
    };
    let runs: Vec<_> = (0..8).map(run).collect();
    assert_eq!(runs, (0..8).map(run).collect::<Vec<_>>());
    for (i, one) in runs.iter().enumerate() {
        assert!(runs[..i].iter().all(|other| other.0 != one.0), "seed {i}");
    }
}

// proves: RT-22
#[test]
fn one_byte_that_differs_gives_another_trace() {
    let run = |changed: Option<usize>| {
        let pair = Pair::new(5);
        let mut sent = bytes(1_000);
        if let Some(at) = changed {
            sent[at] ^= 1;
        }
        let send = async {
            write_all(&pair.client, &sent).await;
            pair.client.shutdown(Shutdown::Write).unwrap();
        };
        pair.block_on(join(send, read_to_end(&pair.server)));
        (pair.world.trace_hash(), pair.world.now())
    };
    let plain = run(None);
    for at in [0, 499, 999] {
        let changed = run(Some(at));
        assert_eq!(changed.1, plain.1, "nothing else differs");
        assert_ne!(changed.0, plain.0, "at {at}");
    }
}

// proves: RT-22
#[test]
fn packets_take_times_that_differ_and_are_bounded() {
    let mut times = Vec::new();
    for seed in 0..4 {
        let pair = Pair::new(seed);
        for number in 0..50_u8 {
            let sent = pair.world.now();
            let trip = async {
                write_all(&pair.client, &[number]).await;
                let (read, byte) = pair.server.read(Vec::with_capacity(1)).await;
                assert_eq!((read.unwrap(), byte), (1, vec![number]));
            };
            pair.block_on(trip);
            times.push(pair.world.now().duration_since(sent));
        }
    }
    let micros = |range: std::ops::Range<u64>| {
        let within =
            |time: &&Duration| (range.start..range.end).contains(&(time.as_micros() as u64));
        times.iter().filter(within).count()
    };
    assert_eq!(micros(10..301), times.len(), "{times:?}");
    // By chance, over all of that range.
    assert!(
        micros(10..100) > 20 && micros(100..200) > 20 && micros(200..301) > 20,
        "{times:?}"
    );
}

#[test]
fn writer_waits_for_a_reader_that_is_a_window_behind() {
    let pair = Pair::new(3);
    let sent = bytes(WINDOW_BYTES + 1);
    let write = write_all(&pair.client, &sent);
    assert!(try_block_on(&pair.world, &pair.drivers, write).is_pending());
    let (n, _) = pair.block_on(pair.server.read(Vec::with_capacity(100)));
    assert!(n.unwrap() > 0);
    pair.settle();
    let more = pair.block_on(poll_fn(|cx| pair.client.poll_write(cx, &sent)));
    assert!(more.unwrap() > 0);
}

// proves: RT-13
#[test]
fn dropped_read_takes_no_bytes() {
    let pair = Pair::new(4);
    assert!(try_block_on(&pair.world, &pair.drivers, pair.server.read(vec![0; 8])).is_pending());
    assert!(try_block_on(&pair.world, &pair.drivers, pair.server.read_chunk()).is_pending());
    let sent = bytes(5_000);
    pair.block_on(write_all(&pair.client, &sent));
    pair.settle();
    let mut received = Vec::new();
    while received.len() < sent.len() {
        received.extend_from_slice(&pair.block_on(pair.server.read_chunk()).unwrap());
    }
    assert_eq!(received, sent);
    pair.client.shutdown(Shutdown::Write).unwrap();
    assert!(pair.block_on(pair.server.read_chunk()).unwrap().is_empty());
}

#[test]
fn connection_to_nobody_is_refused() {
    let (world, drivers) = drivers(1, 1, 1);
    let refused = block_on(&world, &drivers, Stream::connect(&drivers[0], loopback(9)));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::ConnectionRefused);
    let refused = block_on(&world, &drivers, Stream::connect(&drivers[0], loopback(0)));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::ConnectionRefused);
    assert!(
        world.now() > crate::time::Instant::from_nanos(0),
        "an answer takes time"
    );
}

#[test]
fn address_is_taken_once_unless_it_is_shared() {
    let (world, drivers) = drivers(1, 2, 1);
    let bind = |shard: usize, addr, options| Listener::bind(&drivers[shard], addr, options);
    let (plain, shared) = (ListenOptions::new(), ListenOptions::new().reuse_port());
    let any = SocketAddr::from(([0, 0, 0, 0], 80));
    let first = bind(0, loopback(80), &plain).unwrap();
    for taken in [loopback(80), any] {
        let error = bind(1, taken, &plain).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
    }
    drop(first);
    let both = [
        bind(0, any, &shared).unwrap(),
        bind(1, any, &shared).unwrap(),
    ];
    let clients: Vec<_> = (0..40)
        .map(|_| Stream::connect(&drivers[0], loopback(80)))
        .collect();
    let clients = block_on(&world, &drivers, join_all(clients));
    assert!(clients.iter().all(Result::is_ok));
    let accepted = both.each_ref().map(|listener| {
        let accept = async { while listener.accept().await.is_ok() {} };
        assert!(try_block_on(&world, &drivers, accept).is_pending());
    });
    assert_eq!(accepted.len(), 2);
    assert_ne!(
        bind(0, loopback(0), &plain)
            .unwrap()
            .local_addr()
            .unwrap()
            .port(),
        0
    );
}

#[test]
fn stream_that_is_dropped_with_unread_bytes_resets_the_other_end() {
    let pair = Pair::new(5);
    pair.block_on(write_all(&pair.client, b"unread"));
    pair.settle();
    drop(pair.server);
    let (world, drivers) = (&pair.world, &pair.drivers);
    let (read, _) = block_on(world, drivers, pair.client.read(vec![0; 8]));
    assert_eq!(read.unwrap_err().kind(), ErrorKind::ConnectionReset);
    let (read, _) = block_on(world, drivers, pair.client.read(vec![0; 8]));
    assert_eq!(read.unwrap(), 0, "the fault is told once");
    let (write, _) = block_on(world, drivers, pair.client.write(b"x".to_vec()));
    assert_eq!(write.unwrap_err().kind(), ErrorKind::BrokenPipe);
    assert_eq!(
        pair.client.shutdown(Shutdown::Both).unwrap_err().kind(),
        ErrorKind::NotConnected
    );
}

#[test]
fn writing_to_an_end_that_is_gone_breaks_the_pipe() {
    let pair = Pair::new(6);
    pair.block_on(write_all(&pair.server, b"last words"));
    drop(pair.server);
    let (world, drivers) = (&pair.world, &pair.drivers);
    let (read, reads) = block_on(world, drivers, read_to_end(&pair.client));
    assert_eq!(read, b"last words");
    assert!(reads >= 1);
    block_on(world, drivers, write_all(&pair.client, b"too late"));
    assert!(try_block_on(world, drivers, std::future::pending::<()>()).is_pending());
    let (write, _) = block_on(world, drivers, pair.client.write(b"x".to_vec()));
    assert_eq!(write.unwrap_err().kind(), ErrorKind::BrokenPipe);
}

#[test]
fn shutdown_of_reading_ends_a_waiting_read() {
    let pair = Pair::new(7);
    let shut = async { pair.client.shutdown(Shutdown::Read).unwrap() };
    let ((read, _), ()) = pair.block_on(join(pair.client.read(vec![0; 8]), shut));
    assert_eq!(read.unwrap(), 0);
    pair.client.shutdown(Shutdown::Write).unwrap();
    let (write, _) = pair.block_on(pair.client.write(b"x".to_vec()));
    assert_eq!(write.unwrap_err().kind(), ErrorKind::BrokenPipe);
}

#[test]
fn full_backlog_delays_a_connection_and_a_closed_listener_resets_it() {
    let (world, drivers) = drivers(8, 2, 1);
    let options = ListenOptions::new().backlog(1);
    let listener = Listener::bind(&drivers[1], loopback(7), &options).unwrap();
    let connect = || Stream::connect(&drivers[0], loopback(7));
    // One more than the backlog fits, as on Linux.
    let first = block_on(&world, &drivers, connect()).unwrap();
    let second = block_on(&world, &drivers, connect()).unwrap();
    let before = world.now();
    let third = join(connect(), async {
        let accept_late = async {
            poll_fn(|cx| {
                if world.now().duration_since(before) > Duration::from_millis(500) {
                    return Poll::Ready(());
                }
                cx.waker().wake_by_ref();
                if world
                    .next_delivery()
                    .is_some_and(|next| next <= world.now())
                {
                    drivers.iter().for_each(|driver| driver.turn());
                } else {
                    world.advance(world.now() + Duration::from_millis(1));
                }
                Poll::Pending
            })
            .await;
        };
        accept_late.await;
        listener.accept().await.unwrap()
    });
    let (third, accepted) = block_on(&world, &drivers, third);
    assert!(world.now().duration_since(before) >= Duration::from_secs(1));
    assert_eq!(accepted.1, first.local_addr().unwrap());
    drop(listener);
    for stream in [second, third.unwrap()] {
        let (read, _) = block_on(&world, &drivers, stream.read(vec![0; 8]));
        assert_eq!(read.unwrap_err().kind(), ErrorKind::ConnectionReset);
    }
}

#[test]
fn backlog_that_stays_full_times_a_connection_out() {
    let (world, drivers) = drivers(9, 1, 1);
    let options = ListenOptions::new().backlog(0);
    let _listener = Listener::bind(&drivers[0], loopback(7), &options).unwrap();
    let connect = || Stream::connect(&drivers[0], loopback(7));
    let _first = block_on(&world, &drivers, connect()).unwrap();
    let late = block_on(&world, &drivers, connect());
    assert_eq!(late.unwrap_err().kind(), ErrorKind::TimedOut);
    assert!(world.now() > crate::time::Instant::from_nanos(60_000_000_000));
}

#[test]
fn connection_that_is_given_up_is_never_accepted() {
    let (world, drivers) = drivers(10, 2, 1);
    let listener = Listener::bind(&drivers[1], loopback(7), &ListenOptions::new()).unwrap();
    {
        let mut connect = pin!(Stream::connect(&drivers[0], loopback(7)));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(connect.as_mut().poll(&mut cx).is_pending());
    }
    assert!(try_block_on(&world, &drivers, listener.accept()).is_pending());
    let connect = async {
        let client = Stream::connect(&drivers[0], loopback(7)).await.unwrap();
        read_to_end(&client).await.0
    };
    let serve = async { drop(listener.accept().await.unwrap()) };
    assert_eq!(block_on(&world, &drivers, join(connect, serve)).0, b"");
}

#[test]
fn reading_waits_for_a_buffer_while_chunks_hold_all() {
    let (world, drivers) = drivers(11, 1, 1);
    let listener = Listener::bind(&drivers[0], loopback(7), &ListenOptions::new()).unwrap();
    let both = join(Stream::connect(&drivers[0], loopback(7)), listener.accept());
    let (client, accepted) = block_on(&world, &drivers, both);
    let (client, server) = (client.unwrap(), accepted.unwrap().0);
    block_on(&world, &drivers, write_all(&client, &bytes(8_000)));
    let first = block_on(&world, &drivers, server.read_chunk()).unwrap();
    assert!(try_block_on(&world, &drivers, server.read_chunk()).is_pending());
    let release = async { drop(first) };
    let (second, ()) = block_on(&world, &drivers, join(server.read_chunk(), release));
    assert!(!second.unwrap().is_empty());
}

// proves: RT-23
#[test]
fn closed_driver_lets_nobody_wait() {
    let pair = Pair::new(12);
    let listener = Listener::bind(&pair.drivers[0], loopback(7), &ListenOptions::new()).unwrap();
    let waiting = join(pair.client.read(vec![0; 8]), listener.accept());
    let close = async { pair.drivers[0].close(Duration::ZERO).unwrap() };
    let (((read, _), accepted), left) = pair.block_on(join(waiting, close));
    let cancelled = Some(Errno::CANCELED.raw_os_error());
    assert_eq!(read.unwrap_err().raw_os_error(), cancelled);
    assert_eq!(accepted.unwrap_err().raw_os_error(), cancelled);
    assert_eq!(left, 0);
}
