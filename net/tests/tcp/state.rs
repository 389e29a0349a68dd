//! State of a shard, which its connections share.

use std::cell::Cell;
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use corelane::net::TcpStream;
use corelane::task::yield_now;
use corelane::time::timeout;
use corelane::{Shard, SubmitError, shard};
use corelane_net::{CloseError, Connection, ServeError, Sharding, Tcp};
use corelane_primitives::lane;

use super::support::{PATIENCE, assert_whole, close, close_at_leisure, echo, served, until};

/// A count that stays on its shard; it says where it was made and dropped.
struct Count {
    shard: usize,
    served: Rc<Cell<u8>>,
    log: Log,
}

type Log = Arc<Mutex<Vec<(&'static str, usize)>>>;

impl Count {
    fn new(log: &Log) -> Self {
        let shard = shard().index();
        log.lock().unwrap().push(("made", shard));
        Self {
            shard,
            served: Rc::default(),
            log: Arc::clone(log),
        }
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        assert_eq!(shard().index(), self.shard);
        self.log.lock().unwrap().push(("dropped", self.shard));
    }
}

/// Tells which shard serves the connection, and its number there; then echoes.
async fn number(count: Rc<Count>, conn: Connection) {
    assert_eq!(shard().index(), count.shard);
    count.served.set(count.served.get() + 1);
    let word = vec![count.shard as u8, count.served.get()];
    conn.write_all(word).await.0.unwrap();
    echo(conn).await;
}

async fn numbers(clients: &[TcpStream]) -> Vec<[u8; 2]> {
    let mut words = Vec::new();
    for client in clients {
        let (read, word) = client.read_exact(Box::new([0; 2])).await;
        read.unwrap();
        words.push(*word);
    }
    words.sort_unstable();
    words
}

#[corelane::test]
async fn each_shard_makes_its_state_once_and_keeps_it_to_the_end() {
    let log = Log::default();
    let made = Arc::clone(&log);
    let tcp = Tcp::bind("127.0.0.1:0");
    let binding = tcp.serve_with(|_| async move { Count::new(&made) }, number);
    let mut binding = binding.unwrap();
    let mut clients = Vec::new();
    for _ in 0..6 {
        clients.push(TcpStream::connect(binding.local_addr()).await.unwrap());
    }
    let wanted = [[0, 1], [0, 2], [0, 3], [1, 1], [1, 2], [1, 3]];
    assert_eq!(numbers(&clients).await, wanted);
    let mut seen = std::mem::take(&mut *log.lock().unwrap());
    seen.sort_unstable();
    assert_eq!(seen, [("made", 0), ("made", 1)]);
    drop(clients);
    let total = close_at_leisure(&mut binding).await.total;
    assert_eq!(total.finished, 6);
    let mut seen = std::mem::take(&mut *log.lock().unwrap());
    seen.sort_unstable();
    assert_eq!(seen, [("dropped", 0), ("dropped", 1)]);
}

#[corelane::test(sim)]
async fn state_is_made_in_a_simulation_too() {
    let log = Log::default();
    let tcp = Tcp::bind("127.0.0.1:0").shards(Sharding::Off);
    let binding = tcp.serve_with(|_| async move { Count::new(&log) }, number);
    let mut binding = binding.unwrap();
    for number in 1..=3 {
        let client = TcpStream::connect(binding.local_addr()).await.unwrap();
        assert_eq!(numbers(&[client]).await, [[0, number]]);
    }
    assert_eq!(close_at_leisure(&mut binding).await.total.finished, 3);
}

#[corelane::test]
async fn nothing_is_accepted_before_every_shard_has_its_state() {
    // Which shard is the slow one.
    for slow in 0..2 {
        let (mut go, gone) = lane::<()>(1);
        let gone = Arc::new(Mutex::new(Some(gone)));
        let make = move |shard: Shard| async move {
            if shard.index() == slow {
                let gone = gone.lock().unwrap().take();
                gone.unwrap().recv().await.unwrap();
            }
        };
        let tcp = Tcp::bind("127.0.0.1:0");
        let binding = tcp.serve_with(make, |_, conn| echo(conn)).unwrap();
        let client = TcpStream::connect(binding.local_addr()).await.unwrap();
        client.write_all("?").await.0.unwrap();
        // The other shard has made its own, and has run for long.
        for _ in 0..3 {
            let turns = async || {
                for _ in 0..1_000 {
                    yield_now().await;
                }
            };
            corelane::shards()[1].submit(turns).await.unwrap();
            assert_eq!(binding.stats().total.accepted, 0);
        }
        go.push(()).unwrap();
        go.notify();
        let read = timeout(PATIENCE, client.read_chunk()).await.unwrap();
        assert_eq!(&read.unwrap()[..], b"?");
    }
}

#[corelane::test]
async fn shard_whose_state_panics_does_not_serve_and_the_others_do() {
    let tcp = Tcp::bind("127.0.0.1:0");
    let make = async |shard: Shard| assert_ne!(shard.index(), 1, "no state here");
    let binding = tcp.serve_with(make, |_, conn| echo(conn));
    let mut binding = binding.unwrap();
    let mut clients = Vec::new();
    for _ in 0..4 {
        clients.push(served(binding.local_addr()).await);
    }
    let stats = binding.stats();
    assert_eq!(stats.shards[0].connections.open, 4, "{stats:?}");
    drop(clients);
    until(&binding, |total| total.finished == 4).await;
    let closed = timeout(PATIENCE, binding.close(Duration::MAX)).await;
    let error = closed.unwrap().unwrap_err();
    let CloseError::Shard { shard, source } = error else {
        panic!("{error}");
    };
    assert!(
        matches!((shard, &source), (1, SubmitError::Panicked(_))),
        "{source}"
    );
    assert_whole(binding.stats().total);
}

#[corelane::test]
async fn state_that_panics_where_connections_are_accepted_fails_the_binding() {
    let tcp = Tcp::bind("127.0.0.1:0");
    let make = async |shard: Shard| assert_ne!(shard.index(), 0, "no state here");
    let mut binding = tcp.serve_with(make, |_, conn| echo(conn)).unwrap();
    let mut failed = Box::pin(binding.failed());
    let panic = timeout(
        PATIENCE,
        std::future::poll_fn(|cx| {
            match catch_unwind(AssertUnwindSafe(|| failed.as_mut().poll(cx).is_ready())) {
                Ok(false) => Poll::Pending,
                Ok(true) => panic!("the listener is whole"),
                Err(panic) => Poll::Ready(panic),
            }
        }),
    );
    let panic = panic.await.unwrap();
    let message = panic.downcast_ref::<String>().unwrap();
    assert!(message.contains("no state here"), "{message}");
    drop(failed);
    // The other shard has nobody left to serve.
    close(&mut binding, Duration::MAX).await;
}

#[corelane::test]
async fn close_waits_for_no_state() {
    for endless in 0..2 {
        let tcp = Tcp::bind("127.0.0.1:0");
        let make = async move |shard: Shard| {
            if shard.index() == endless {
                pending::<()>().await;
            }
        };
        let mut binding = tcp.serve_with(make, |_, conn| echo(conn)).unwrap();
        let client = TcpStream::connect(binding.local_addr()).await.unwrap();
        yield_now().await;
        let total = close(&mut binding, Duration::MAX).await.total;
        assert_eq!(total.accepted, 0);
        drop(client);
        // And a binding that is dropped drops what makes the state.
        let tcp = Tcp::bind("127.0.0.1:0");
        let held = Arc::new(());
        let kept = Arc::downgrade(&held);
        let make = move |_| async move {
            let _held = held;
            pending::<()>().await;
        };
        let binding = tcp.serve_with(make, |_, conn| echo(conn)).unwrap();
        drop(binding);
        let dropped = async {
            while kept.strong_count() > 0 {
                corelane::time::sleep(Duration::from_micros(100)).await;
            }
        };
        timeout(PATIENCE, dropped).await.unwrap();
    }
}

#[corelane::test]
async fn serving_with_state_refuses_what_serving_does() {
    let tcp = Tcp::bind("localhost");
    let refused = tcp.serve_with(async |_| (), |_, conn| echo(conn));
    assert!(matches!(refused, Err(ServeError::Address(_))));
}
