//! Addresses, balance, and many connections.

use std::cell::Cell;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use corelane::net::TcpStream;
use corelane::{shard, spawn};
use corelane_net::{Sharding, Stats, Tcp};

use super::support::{allow_connections, ask, assert_whole, close, close_at_leisure, echo, served};

// proves: N-1
#[corelane::test]
async fn the_address_is_told_before_the_first_connection() {
    let addrs = ["127.0.0.1:0".to_owned(), "[::1]:0".to_owned()];
    for addr in addrs {
        let mut binding = Tcp::bind(&addr).serve(echo).unwrap();
        let local = binding.local_addr();
        assert_ne!(local.port(), 0);
        assert_eq!(local.ip(), addr.parse::<SocketAddr>().unwrap().ip());
        assert_eq!(binding.stats().total.accepted, 0);
        drop(served(local).await);
        let stats = close_at_leisure(&mut binding).await;
        assert_eq!((stats.total.accepted, stats.total.finished), (1, 1));
    }
}

#[corelane::test]
async fn a_connection_knows_both_its_ends() {
    let seen = Arc::new(Mutex::new(None));
    let record = Arc::clone(&seen);
    let tcp = Tcp::bind((Ipv4Addr::LOCALHOST, 0)).shards(Sharding::Off);
    let binding = tcp.serve(move |conn| {
        *record.lock().unwrap() = Some((conn.peer(), conn.local().unwrap()));
        echo(conn)
    });
    let binding = binding.unwrap();
    let client = served(binding.local_addr()).await;
    let ends = (client.local_addr().unwrap(), binding.local_addr());
    assert_eq!(*seen.lock().unwrap(), Some(ends));
}

/// The open connections of the fullest shard.
fn fullest(stats: &Stats) -> u64 {
    let open = stats.shards.iter().map(|shard| shard.connections.open);
    open.max().unwrap()
}

// proves: N-9
#[corelane::test]
async fn long_connections_spread_evenly() {
    allow_connections(1024);
    for count in [1, 2, 64, 1024] {
        let binding = Tcp::bind("127.0.0.1:0").serve(echo).unwrap();
        let mut clients = Vec::new();
        for _ in 0..count {
            clients.push(served(binding.local_addr()).await);
        }
        let stats = binding.stats();
        assert_eq!(stats.shards.len(), 2);
        assert_eq!(stats.total.open, count, "{stats:?}");
        assert_eq!(stats.total.moved, count / 2, "{stats:?}");
        assert_eq!(fullest(&stats), count.div_ceil(2), "{stats:?}");
    }
}

#[corelane::test]
async fn a_shard_whose_connections_end_gets_the_next_ones() {
    let binding = Tcp::bind("127.0.0.1:0").serve(echo).unwrap();
    let addr = binding.local_addr();
    let mut clients = Vec::new();
    for _ in 0..40 {
        clients.push(served(addr).await);
    }
    // Every second connection went to the other shard: end those.
    let mut number = 0;
    clients.retain(|_| {
        number += 1;
        number % 2 == 1
    });
    super::support::until(&binding, |total| total.open == 20).await;
    for _ in 0..20 {
        clients.push(served(addr).await);
    }
    let stats = binding.stats();
    assert_eq!((stats.total.open, fullest(&stats)), (40, 20), "{stats:?}");
}

const CONNECTIONS: usize = 1000;

async fn client(addr: SocketAddr, number: usize) {
    let stream = TcpStream::connect(addr).await.unwrap();
    for round in 0..3 {
        let len = [64, 16 * 1024, 1, 3000][(number + round) % 4];
        let seed = (number * 31 + round) as u8;
        ask(&stream, (0..len).map(|at| seed ^ at as u8).collect()).await;
    }
}

#[corelane::test]
async fn a_thousand_connections_over_two_shards_echo_without_loss() {
    allow_connections(CONNECTIONS as u64);
    let mut binding = Tcp::bind("127.0.0.1:0").serve(echo).unwrap();
    let addr = binding.local_addr();
    let clients: Vec<_> = (0..CONNECTIONS).map(|n| spawn(client(addr, n))).collect();
    for client in clients {
        client.await.unwrap();
    }
    let stats = close_at_leisure(&mut binding).await;
    assert_eq!(stats.total.finished, CONNECTIONS as u64, "{stats:?}");
    assert!(
        stats
            .shards
            .iter()
            .all(|shard| shard.connections.finished > 0)
    );
    assert_whole(stats.total);
}

/// Counts its clones.
struct Cloned(Arc<AtomicUsize>);

impl Clone for Cloned {
    fn clone(&self) -> Self {
        self.0.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(&self.0))
    }
}

#[corelane::test]
async fn the_handler_is_cloned_once_a_shard_and_its_futures_stay_there() {
    let clones = Arc::new(AtomicUsize::new(0));
    let handler = Cloned(Arc::clone(&clones));
    let binding = Tcp::bind("127.0.0.1:0").serve(move |conn| {
        let _handler = &handler;
        let here = shard().index();
        async move {
            // Not `Send`, and used across every wait.
            let count = Rc::new(Cell::new(0_u8));
            while let Ok(chunk) = conn.read_chunk().await {
                if chunk.is_empty() {
                    return;
                }
                count.set(count.get() + 1);
                assert_eq!(shard().index(), here);
                conn.write_all(vec![count.get()]).await.0.unwrap();
            }
        }
    });
    let binding = binding.unwrap();
    for _ in 0..10 {
        let client = TcpStream::connect(binding.local_addr()).await.unwrap();
        for expected in 1..5 {
            client.write_all("x").await.0.unwrap();
            assert_eq!(&client.read_chunk().await.unwrap()[..], [expected]);
        }
    }
    assert_eq!(clones.load(Ordering::Relaxed), 1, "one for the other shard");
    assert_eq!(binding.stats().total.panicked, 0);
}

#[corelane::test(sim)]
async fn one_shard_serves_in_a_simulation() {
    let tcp = Tcp::bind("127.0.0.1:0").shards(Sharding::Off);
    let mut binding = tcp.serve(echo).unwrap();
    let addr = binding.local_addr();
    let clients: Vec<_> = (0..20).map(|number| spawn(client(addr, number))).collect();
    for client in clients {
        client.await.unwrap();
    }
    let stats = close(&mut binding, Duration::from_secs(1)).await;
    assert_eq!(stats.total.finished, 20);
    assert_whole(stats.total);
}
