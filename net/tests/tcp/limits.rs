//! What is over a limit is refused and counted, and what follows is served.

use corelane::net::TcpStream;
use corelane::spawn;
use corelane_net::{Limits, Sharding, Tcp};

use super::support::{
    allow_connections, ask, assert_whole, close_at_leisure, echo, is_closed, served, until,
};

#[corelane::test]
async fn over_the_cap_a_connection_is_closed_at_once_and_counted() {
    let limits = Limits::new().connections_max(3);
    let tcp = Tcp::bind("127.0.0.1:0").limits(limits);
    let binding = tcp.serve(echo).unwrap();
    let addr = binding.local_addr();
    let mut held = Vec::new();
    for _ in 0..6 {
        held.push(served(addr).await);
    }
    for refused in 1..=10 {
        let client = TcpStream::connect(addr).await.unwrap();
        assert!(is_closed(&client).await);
        until(&binding, |total| total.refused == refused).await;
    }
    let stats = binding.stats();
    assert_eq!((stats.total.accepted, stats.total.open), (6, 6));
    assert!(stats.shards.iter().all(|shard| shard.connections.open == 3));
    assert_whole(stats.total);
    // Those that were there before are none the worse.
    for client in &held {
        ask(client, vec![1; 100]).await;
    }
    // A place that becomes free is given again.
    held.pop();
    until(&binding, |total| total.open == 5).await;
    held.push(served(addr).await);
}

#[corelane::test]
async fn accepting_goes_on_after_a_flood() {
    const FLOOD: u64 = 500;
    allow_connections(FLOOD);
    let limits = Limits::new().connections_max(4);
    let tcp = Tcp::bind("127.0.0.1:0").limits(limits);
    let binding = tcp.serve(echo).unwrap();
    let addr = binding.local_addr();
    let clients: Vec<_> = (0..FLOOD)
        .map(|_| spawn(async move { TcpStream::connect(addr).await.unwrap() }))
        .collect();
    let mut flood = Vec::new();
    for client in clients {
        flood.push(client.await.unwrap());
    }
    until(&binding, |total| total.accepted + total.refused == FLOOD).await;
    let total = binding.stats().total;
    // Which eight of the flood were served is decided by who was closed.
    assert_eq!((total.open, total.refused), (8, FLOOD - 8));
    drop(flood);
    until(&binding, |total| total.open == 0).await;
    for _ in 0..20 {
        drop(served(addr).await);
    }
    until(&binding, |total| total.finished == 28).await;
    assert_whole(binding.stats().total);
}

#[corelane::test]
async fn a_full_way_keeps_the_connection_at_home() {
    let limits = Limits::new().handoffs_max(1);
    let tcp = Tcp::bind("127.0.0.1:0").limits(limits);
    let mut binding = tcp.serve(echo).unwrap();
    let addr = binding.local_addr();
    let clients: Vec<_> = (0..200).map(|_| spawn(served(addr))).collect();
    let mut held = Vec::new();
    for client in clients {
        held.push(client.await.unwrap());
    }
    let total = binding.stats().total;
    assert_eq!((total.open, total.refused, total.lost), (200, 0, 0));
    drop(held);
    let stats = close_at_leisure(&mut binding).await;
    assert_eq!(stats.total.finished, 200);
}

#[corelane::test(sim)]
async fn the_cap_holds_in_a_simulation() {
    let limits = Limits::new().connections_max(2);
    let tcp = Tcp::bind("127.0.0.1:0")
        .limits(limits)
        .shards(Sharding::Off);
    let binding = tcp.serve(echo).unwrap();
    let addr = binding.local_addr();
    let held = [served(addr).await, served(addr).await];
    for _ in 0..3 {
        let client = TcpStream::connect(addr).await.unwrap();
        assert!(is_closed(&client).await);
    }
    assert_eq!(binding.stats().total.refused, 3);
    drop(held);
    until(&binding, |total| total.open == 0).await;
    drop(served(addr).await);
}
