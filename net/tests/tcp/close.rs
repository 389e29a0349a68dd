//! Closing: in time, by deadline, and by dropping.

use std::future::poll_fn;
use std::io::ErrorKind;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use corelane::net::TcpStream;
use corelane::time::{sleep, timeout};
use corelane::{JoinHandle, spawn};
use corelane_net::{Binding, Connection, Sharding, Tcp};

use super::support::{
    PATIENCE, assert_whole, close, close_at_leisure, echo, is_closed, served, until,
};

/// Asks for echoes until the connection ends; tells how many came.
fn chatter(addr: std::net::SocketAddr) -> JoinHandle<u64> {
    spawn(async move {
        let Ok(client) = TcpStream::connect(addr).await else {
            return 0;
        };
        let mut echoes = 0;
        loop {
            if client.write_all(vec![1; 512]).await.0.is_err() {
                return echoes;
            }
            let back = vec![0; 512].into_boxed_slice();
            if client.read_exact(back).await.0.is_err() {
                return echoes;
            }
            echoes += 1;
        }
    })
}

async fn refuses(binding: &Binding) {
    let refused = TcpStream::connect(binding.local_addr()).await;
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::ConnectionRefused);
}

/// Echoes. Every second one hears of the close and ends; the others go on until they are cut.
fn half_listens(number: &AtomicU64, conn: Connection) -> impl Future<Output = ()> + use<> {
    let listens = number.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
    async move {
        let mut closing = pin!(conn.closing());
        loop {
            let next = poll_fn(|cx| {
                if listens && closing.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(None);
                }
                conn.poll_read_chunk(cx).map(Result::ok)
            });
            let Some(chunk) = next.await else { return };
            if chunk.is_empty() || conn.write_all(chunk).await.0.is_err() {
                return;
            }
        }
    }
}

/// Closes a binding that sixty clients keep busy, and tells how many connections finished and how
/// many were cut.
async fn close_under_load(sharding: Sharding, deadline: Duration) -> (u64, u64) {
    let number = Arc::new(AtomicU64::new(0));
    let tcp = Tcp::bind("127.0.0.1:0").shards(sharding);
    let mut binding = tcp.serve(move |conn| half_listens(&number, conn)).unwrap();
    let clients: Vec<_> = (0..60).map(|_| chatter(binding.local_addr())).collect();
    until(&binding, |total| total.accepted == 60).await;
    let stats = close(&mut binding, deadline).await;
    assert_eq!(stats.total.accepted, stats.total.finished + stats.total.cut);
    assert_eq!(stats, binding.stats());
    for client in clients {
        timeout(PATIENCE, client).await.unwrap().unwrap();
    }
    refuses(&binding).await;
    (stats.total.finished, stats.total.cut)
}

#[corelane::test]
async fn under_load_every_connection_is_finished_or_cut_by_the_deadline() {
    // How many hear of it in time is for the machine to say; none of the others does.
    let (finished, cut) = close_under_load(Sharding::Auto, Duration::from_millis(20)).await;
    assert!(finished <= 30 && finished + cut == 60, "{finished}, {cut}");
}

#[corelane::test(sim)]
async fn in_a_simulation_all_who_listen_finish_before_the_deadline() {
    let counts = close_under_load(Sharding::Off, Duration::from_millis(5)).await;
    assert_eq!(counts, (30, 30));
}

#[corelane::test]
async fn connections_that_go_on_arriving_do_not_hold_a_close_up() {
    let mut binding = Tcp::bind("127.0.0.1:0").serve(echo).unwrap();
    let addr = binding.local_addr();
    let clients: Vec<_> = (0..200).map(|_| chatter(addr)).collect();
    until(&binding, |total| total.accepted >= 20).await;
    let stats = close(&mut binding, Duration::ZERO).await;
    assert_eq!(stats.total.open, 0);
    assert_eq!(stats.total.accepted, stats.total.finished + stats.total.cut);
    for client in clients {
        timeout(PATIENCE, client).await.unwrap().unwrap();
    }
}

#[corelane::test]
async fn a_close_waits_for_what_ends_by_itself() {
    let mut binding = Tcp::bind("127.0.0.1:0").serve(echo).unwrap();
    let mut clients = Vec::new();
    for _ in 0..8 {
        clients.push(served(binding.local_addr()).await);
    }
    let leaving = spawn(async move {
        for client in clients {
            sleep(Duration::from_millis(1)).await;
            drop(client);
        }
    });
    // Without end: it ends with the last connection.
    let total = close_at_leisure(&mut binding).await.total;
    assert_eq!((total.finished, total.cut), (8, 0));
    leaving.await.unwrap();
}

#[corelane::test]
async fn a_close_may_be_given_up_and_asked_for_again() {
    let mut binding = Tcp::bind("127.0.0.1:0").serve(echo).unwrap();
    let clients = [
        served(binding.local_addr()).await,
        served(binding.local_addr()).await,
    ];
    let given_up = timeout(Duration::from_millis(1), binding.close(Duration::MAX)).await;
    assert!(given_up.is_err());
    refuses(&binding).await;
    // What is open goes on meanwhile.
    for client in &clients {
        super::support::ask(client, vec![3]).await;
    }
    drop(clients);
    for _ in 0..2 {
        let total = close_at_leisure(&mut binding).await.total;
        assert_eq!((total.accepted, total.finished), (2, 2));
    }
}

#[corelane::test]
async fn a_close_given_up_at_its_first_poll_can_be_taken_up_anywhere() {
    let mut binding = Tcp::bind("127.0.0.1:0").serve(echo).unwrap();
    drop(served(binding.local_addr()).await);
    {
        let mut closing = pin!(binding.close(PATIENCE));
        let first = poll_fn(|cx| Poll::Ready(closing.as_mut().poll(cx)));
        assert!(
            first.await.is_pending(),
            "the acceptor ends between its polls"
        );
    }
    // A listener that was closed did not fail.
    for _ in 0..2 {
        let failed = timeout(Duration::from_millis(1), binding.failed()).await;
        assert!(failed.is_err());
    }
    let total = close_at_leisure(&mut binding).await.total;
    assert_eq!((total.accepted, total.finished), (1, 1));
    refuses(&binding).await;
}

/// Counts handlers that are dropped.
struct Held(Arc<AtomicU64>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

#[corelane::test]
async fn dropping_the_binding_drops_its_connections_on_every_shard() {
    let dropped = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&dropped);
    let binding = Tcp::bind("127.0.0.1:0").serve(move |conn| {
        let held = Held(Arc::clone(&count));
        async move {
            echo(conn).await;
            drop(held);
        }
    });
    let binding = binding.unwrap();
    let addr = binding.local_addr();
    let mut clients = Vec::new();
    for _ in 0..20 {
        clients.push(served(addr).await);
    }
    drop(binding);
    for client in &clients {
        assert!(is_closed(client).await);
    }
    let all = async {
        while dropped.load(Ordering::Acquire) < 20 {
            sleep(Duration::from_micros(100)).await;
        }
        // The port is free again, once the acceptor is gone.
        while let Err(taken) = Tcp::bind(addr).serve(echo) {
            eprintln!("{taken}");
            sleep(Duration::from_micros(100)).await;
        }
    };
    timeout(PATIENCE, all).await.unwrap();
}

#[corelane::test]
async fn a_binding_that_serves_does_not_fail() {
    let mut binding = Tcp::bind("127.0.0.1:0").serve(echo).unwrap();
    let failed = timeout(Duration::from_millis(1), binding.failed()).await;
    assert!(failed.is_err());
    let client = served(binding.local_addr()).await;
    drop(client);
    assert_whole(close_at_leisure(&mut binding).await.total);
    let failed = timeout(Duration::from_millis(1), binding.failed()).await;
    assert!(failed.is_err());
}

/// Says goodbye when the carrier closes.
async fn farewell(conn: Connection) {
    conn.closing().await;
    conn.write_all("bye").await.0.unwrap();
}

#[corelane::test]
async fn handlers_hear_of_the_close_on_every_shard() {
    let mut binding = Tcp::bind("127.0.0.1:0").serve(farewell).unwrap();
    let mut clients = Vec::new();
    for _ in 0..10 {
        clients.push(TcpStream::connect(binding.local_addr()).await.unwrap());
    }
    until(&binding, |total| total.open == 10).await;
    let stats = close_at_leisure(&mut binding).await;
    assert_eq!(stats.total.finished, 10);
    for client in &clients {
        assert_eq!(&client.read_chunk().await.unwrap()[..], b"bye");
        assert!(is_closed(client).await);
    }
}

/// Panics when it wakes.
struct Bomb;

impl Wake for Bomb {
    fn wake(self: Arc<Self>) {
        panic!("a waker that panics");
    }
}

#[corelane::test]
async fn handlers_hear_of_the_close_past_a_waker_that_panics() {
    let number = Arc::new(AtomicU64::new(0));
    let tcp = Tcp::bind("127.0.0.1:0").shards(Sharding::Off);
    let binding = tcp.serve(move |conn| {
        let first = number.fetch_add(1, Ordering::Relaxed) == 0;
        async move {
            let mut closing = pin!(conn.closing());
            // The first one waits in an executor of its own, whose waker is broken.
            let bomb = Waker::from(Arc::new(Bomb));
            let waits = poll_fn(|cx| {
                let waker = if first { &bomb } else { cx.waker() };
                Poll::Ready(closing.as_mut().poll(&mut Context::from_waker(waker)))
            });
            assert!(waits.await.is_pending());
            conn.write_all("!").await.0.unwrap();
            if first {
                assert!(conn.read_chunk().await.unwrap().is_empty());
            } else {
                closing.await;
            }
        }
    });
    let mut binding = binding.unwrap();
    let mut clients = Vec::new();
    for _ in 0..2 {
        let client = TcpStream::connect(binding.local_addr()).await.unwrap();
        assert_eq!(&client.read_chunk().await.unwrap()[..], b"!");
        clients.push(client);
    }
    let [first, second] = clients.try_into().unwrap();
    let closed = spawn(async move { close_at_leisure(&mut binding).await });
    assert!(is_closed(&second).await);
    drop(first);
    let total = closed.await.unwrap().total;
    assert_eq!((total.finished, total.panicked), (2, 0));
    assert_whole(total);
}
