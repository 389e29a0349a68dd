//! A handler that panics ends its own connection alone.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use corelane::net::TcpStream;
use corelane_net::{Connection, Tcp};

use super::support::{assert_whole, close, close_at_leisure, is_closed, served, until};

/// Panics when it is dropped, unless a panic goes on already.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "a drop that panics");
    }
}

/// Echoes a byte; on some it panics, in every place where a handler can.
fn handle(conn: Connection) -> Pin<Box<dyn Future<Output = ()>>> {
    Box::pin(async move {
        while let Ok(chunk) = conn.read_chunk().await {
            match chunk.first() {
                None => return,
                Some(b'p') => panic!("asked for"),
                Some(b'f') => poll_fn(|_| -> Poll<()> { panic!("in {}", "a leaf") }).await,
                Some(b'v') => std::panic::panic_any(7),
                Some(b'd') => {
                    let _bomb = Bomb;
                    return;
                }
                Some(_) => conn.write_all(chunk).await.0.unwrap(),
            }
        }
    })
}

#[corelane::test]
async fn a_panicking_handler_closes_its_connection_and_is_counted() {
    let mut binding = Tcp::bind("127.0.0.1:0").serve(handle).unwrap();
    let addr = binding.local_addr();
    let held = [served(addr).await, served(addr).await];
    let mut panicked = 0;
    for word in ["p", "f", "v", "d"] {
        for _ in 0..3 {
            let client = served(addr).await;
            client.write_all(word).await.0.unwrap();
            assert!(is_closed(&client).await, "{word}");
            panicked += 1;
            until(&binding, |total| total.panicked == panicked).await;
        }
    }
    assert_eq!(binding.stats().total.open, 2);
    for client in &held {
        super::support::ask(client, vec![1]).await;
    }
    drop(held);
    let total = close_at_leisure(&mut binding).await.total;
    assert_eq!((total.accepted, total.finished), (14, 2));
    assert_whole(total);
}

#[corelane::test]
async fn a_panic_before_the_future_is_made_is_one_of_the_connection_too() {
    let tcp = Tcp::bind("127.0.0.1:0");
    let binding = tcp.serve(|conn| {
        assert_ne!(conn.peer().port(), 0);
        if conn.local().is_ok() {
            panic!("no future");
        }
        std::future::ready(())
    });
    let binding = binding.unwrap();
    for panicked in 1..=6 {
        let client = TcpStream::connect(binding.local_addr()).await.unwrap();
        assert!(is_closed(&client).await);
        until(&binding, |total| total.panicked == panicked).await;
    }
    assert_whole(binding.stats().total);
}

#[corelane::test]
async fn a_handler_that_panics_when_it_is_cut_is_counted_as_such() {
    let tcp = Tcp::bind("127.0.0.1:0");
    let binding = tcp.serve(|conn| async move {
        let _bomb = Bomb;
        conn.closing().await;
        std::future::pending().await
    });
    let mut binding = binding.unwrap();
    let mut clients = Vec::new();
    for _ in 0..6 {
        clients.push(TcpStream::connect(binding.local_addr()).await.unwrap());
    }
    until(&binding, |total| total.open == 6).await;
    let total = close(&mut binding, Duration::ZERO).await.total;
    assert_eq!((total.panicked, total.cut), (6, 0));
    assert_whole(total);
    for client in &clients {
        assert!(is_closed(client).await);
    }
}
