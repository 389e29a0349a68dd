//! Descriptors run out. One test, since the limit holds for the whole process.
#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::time::Duration;

use corelane::net::{TcpListener, TcpStream};
use corelane::time::{Instant, timeout};
use corelane::{metrics, spawn};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, connect as connect_to, socket};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const WAITING: usize = 8;
const DESCRIPTORS: u64 = 200;

/// All the descriptors that the process may have, until dropped.
struct Exhausted {
    _taken: Vec<File>,
}

impl Exhausted {
    fn new() -> Self {
        let taken = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
        Self { _taken: taken }
    }
}

/// Lets the process have few descriptors. Before any accept: one that is armed keeps the limit that
/// it was armed under.
fn allow_few() {
    let limit = getrlimit(Resource::Nofile);
    let few = Rlimit {
        current: Some(DESCRIPTORS),
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, few).unwrap();
}

fn is_exhausted(error: std::io::Error) -> bool {
    Errno::from_io_error(&error) == Some(Errno::MFILE)
}

/// Accepts without a descriptor for a while, which waits and neither fails nor loses who waits in
/// the queue. Tells how often it paused.
async fn pauses_of(listener: &TcpListener) -> u64 {
    let count = || metrics::snapshot().shards[0].accept_backoffs;
    let before = count();
    let refused = timeout(Duration::from_millis(30), listener.accept()).await;
    assert!(
        refused.is_err(),
        "accepted without a descriptor: {refused:?}"
    );
    count() - before
}

// proves: RT-25
#[corelane::test(shards = 1)]
async fn exhausted_descriptors_fail_what_needs_one_and_accepting_goes_on_later() {
    allow_few();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let established = TcpStream::connect(other.local_addr().unwrap())
        .await
        .unwrap();
    let (echo, _) = other.accept().await.unwrap();
    // A listener that nobody has accepted at yet, so that no driver accepts ahead.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let connect = |_| std::net::TcpStream::connect(addr).unwrap();
    let waiting: Vec<_> = (0..WAITING).map(connect).collect();

    let exhausted = Exhausted::new();
    assert!(is_exhausted(TcpListener::bind("127.0.0.1:0").unwrap_err()));
    assert!(is_exhausted(TcpStream::connect(addr).await.unwrap_err()));
    let start = Instant::now();
    // It pauses 5 ms, then twice as long each time: so many pauses take so long at least.
    let pauses = pauses_of(&listener).await;
    let pauses_over = 5 * ((1 << (pauses - 1)) - 1);
    assert!(
        pauses >= 1 && start.elapsed() >= Duration::from_millis(pauses_over),
        "{pauses} pauses"
    );
    // What is open goes on.
    established.write_all("still here").await.0.unwrap();
    assert_eq!(&echo.read_chunk().await.unwrap()[..], b"still here");

    let accepting = spawn(async move {
        let mut accepted = Vec::new();
        while accepted.len() < WAITING {
            accepted.push(listener.accept().await.unwrap());
        }
        (accepted, listener)
    });
    corelane::task::yield_now().await;
    assert!(!accepting.is_finished());
    drop(exhausted);
    let (accepted, listener) = accepting.await.unwrap();
    let mut found: Vec<_> = accepted.iter().map(|(_, peer)| *peer).collect();
    let mut expected: Vec<_> = waiting.iter().map(|c| c.local_addr().unwrap()).collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);

    // After an accept the pauses begin anew: another one in the same time.
    let late = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    let exhausted = Exhausted::new();
    connect_to(&late, &addr).unwrap();
    let pauses = pauses_of(&listener).await;
    assert!(pauses >= 2, "{pauses} pauses");
    drop(exhausted);
    listener.accept().await.unwrap();
}
