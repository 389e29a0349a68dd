//! The backend alone, under an executor of one future. What a user sees is tested on every backend
//! in `tests/tcp_*.rs`.

mod accept;
mod chaos;
mod close;
mod hot;
mod receive;
mod rings;
mod send;

use std::net::{SocketAddr, TcpStream as StdStream};
use std::pin::pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use super::setup::{Setup, Wanted};
use super::{Listener, Stream, Uring};
use crate::driver::DriverParts;
use crate::driver::bell::Bell;
use crate::driver::transfer::Transfer;
use crate::net::ListenOptions;
use crate::settings::IdlePolicy;
use crate::sync::{AtomicBool, Ordering};

/// Fruitless waits, of a tenth of a second each, before a test gives up.
const PATIENCE: u32 = 300;
/// Looks before a park.
const LOOKS: u32 = 100;

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        // Release, partner: the executor's Acquire; threads wake too.
        self.0.store(true, Ordering::Release);
    }
}

/// What a driver of a test is made with.
#[derive(Clone, Copy)]
struct Shape {
    wanted: Wanted,
    entries: u32,
    buffers: u16,
    buffer_bytes: usize,
    idle: IdlePolicy,
}

const NEWEST: Shape = Shape {
    wanted: Wanted::ALL,
    entries: 64,
    buffers: 64,
    buffer_bytes: 4096,
    idle: IdlePolicy::Park,
};

/// The newest way, on a shard that spins before it parks. It has more buffers than the kernel takes
/// at first: a hot stream receives into one of the others.
const SPINNING: Shape = Shape {
    buffers: 128,
    idle: IdlePolicy::Spin,
    ..NEWEST
};

/// The newest ways, the way without multishot operations, and the way of the oldest kernels.
const SHAPES: [Shape; 4] = [
    NEWEST,
    SPINNING,
    Shape {
        wanted: Wanted {
            multishot_accept: false,
            multishot_receive: false,
            ..Wanted::ALL
        },
        ..NEWEST
    },
    Shape {
        wanted: Wanted {
            setup: Setup::Plain,
            multishot_accept: false,
            multishot_receive: false,
            msg_ring: false,
        },
        ..NEWEST
    },
];

fn open(shape: Shape) -> (Rc<Uring>, &'static Bell) {
    let bell = bell();
    let parts = DriverParts {
        bell,
        counters: Arc::default(),
        ring_entries: shape.entries,
        buffers: shape.buffers,
        buffer_bytes: shape.buffer_bytes,
        idle: shape.idle,
    };
    (Uring::open_with(parts, shape.wanted).unwrap(), bell)
}

/// A bell for ever. The list keeps it in the sight of a leak checker.
fn bell() -> &'static Bell {
    static BELLS: Mutex<Vec<&'static Bell>> = Mutex::new(Vec::new());
    let bell = Bell::for_test();
    BELLS.lock().unwrap().push(bell);
    bell
}

/// Runs `test` on a driver of every shape, and closes each: nothing may be left in flight.
fn on_every_shape(test: impl Fn(&Rc<Uring>)) {
    for shape in SHAPES {
        on(shape, &test);
    }
}

fn on(shape: Shape, test: impl FnOnce(&Rc<Uring>)) {
    let (driver, _) = open(shape);
    test(&driver);
    assert_eq!(driver.close(Duration::from_secs(10)).unwrap(), 0);
    assert_eq!(Rc::strong_count(&driver), 1, "a socket outlived its test");
}

fn block_on<F: Future>(driver: &Uring, future: F) -> F::Output {
    let woken = Arc::new(Woken(AtomicBool::new(true)));
    let waker = Waker::from(Arc::clone(&woken));
    let mut future = pin!(future);
    let mut fruitless = 0;
    while fruitless < PATIENCE {
        fruitless += 1;
        // Acquire, partner: the Release of a wake.
        while woken.0.swap(false, Ordering::Acquire) {
            fruitless = 0;
            match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(output) => return output,
                Poll::Pending => driver.turn(),
            }
        }
        rest(driver);
    }
    panic!("nobody woke the future");
}

/// Turns until `done` holds.
fn turn_until(driver: &Uring, mut done: impl FnMut() -> bool) {
    for _ in 0..PATIENCE {
        driver.turn();
        if done() {
            return;
        }
        rest(driver);
    }
    panic!("what was waited for did not happen");
}

/// Looks for a moment, as a shard does that spins, and parks.
fn rest(driver: &Uring) {
    if (0..LOOKS).any(|_| driver.find()) {
        driver.turn();
    } else {
        driver.park(Some(Duration::from_millis(100))).unwrap();
    }
}

fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

fn loopback() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

fn listener(driver: &Rc<Uring>) -> (Listener, SocketAddr) {
    let listener = Listener::bind(driver, loopback(), &ListenOptions::new()).unwrap();
    let addr = listener.local_addr().unwrap();
    (listener, addr)
}

/// A stream on the driver, and its peer, a socket of std.
fn pair(driver: &Rc<Uring>) -> (Stream, StdStream) {
    let (listener, addr) = listener(driver);
    let peer = StdStream::connect(addr).unwrap();
    let (stream, from) = block_on(driver, listener.accept()).unwrap();
    assert_eq!(from, peer.local_addr().unwrap());
    (stream, peer)
}

/// Both ends on the driver.
fn streams(driver: &Rc<Uring>) -> (Stream, Stream) {
    let (listener, addr) = listener(driver);
    let both = futures_util::future::join(listener.accept(), Stream::connect(driver, addr));
    let (accepted, connected) = block_on(driver, both);
    (accepted.unwrap().0, connected.unwrap())
}

fn set_send_buffer(stream: &Stream, bytes: usize) {
    rustix::net::sockopt::set_socket_send_buffer_size(&stream.socket.fd, bytes).unwrap();
}

/// Runs `body`, which changes limits of its process, in a process of its own.
fn alone(test: &str, body: impl FnOnce()) {
    const MARK: &str = "CORELANE_TEST_ALONE";
    if std::env::var_os(MARK).is_some() {
        return body();
    }
    let name = format!("driver::uring::tests::{test}");
    let run = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &name, "--nocapture", "--test-threads=1"])
        .env(MARK, "1")
        // What a test leaks on purpose there is no finding.
        .env("ASAN_OPTIONS", "detect_leaks=0")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(
        run.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&run.stderr)
    );
    assert!(said.contains("1 passed"), "no test is named {name}: {said}");
}

/// Bytes that differ by place, so that a swap or a loss shows.
fn pattern(len: usize) -> Vec<u8> {
    (0..len)
        .map(|n| (n.wrapping_mul(31) ^ (n >> 8)) as u8)
        .collect()
}
