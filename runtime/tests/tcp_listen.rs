//! Listeners: addresses, options, and who gets a connection.
#![allow(clippy::unwrap_used)]

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::rc::Rc;
use std::time::Duration;

use corelane::net::{ListenOptions, TcpListener, TcpStream};
use corelane::spawn;
use corelane::task::yield_now;
use corelane::time::{sleep, timeout};

#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn addresses_come_as_text_or_as_types() {
    let localhost = Ipv4Addr::LOCALHOST;
    let listeners = [
        TcpListener::bind("127.0.0.1:0"),
        TcpListener::bind(String::from("127.0.0.1:0")),
        TcpListener::bind((localhost, 0)),
        TcpListener::bind(SocketAddrV4::new(localhost, 0)),
        TcpListener::bind(SocketAddr::from((localhost, 0))),
        TcpListener::bind(([127, 0, 0, 1], 0)),
    ];
    for listener in listeners {
        let addr = listener.unwrap().local_addr().unwrap();
        assert!(addr.ip() == localhost && addr.port() != 0, "{addr}");
    }
    for text in ["", "127.0.0.1", "localhost:80", "127.0.0.1:65536", "::1:80"] {
        let refused = TcpListener::bind(text).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{text}");
        let refused = TcpStream::connect(text).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{text}");
    }
}

#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn a_taken_address_is_refused_unless_it_is_shared() {
    let alone = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = TcpListener::bind(alone.local_addr().unwrap()).unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::AddrInUse);
    let shared = ListenOptions::new().reuse_port();
    let first = TcpListener::bind_with("127.0.0.1:0", &shared).unwrap();
    let addr = first.local_addr().unwrap();
    let second = TcpListener::bind_with(addr, &shared).unwrap();
    assert_eq!(second.local_addr().unwrap(), addr);
    // A port that was closed is free again, once the kernel has given up what waited there.
    let addr = alone.local_addr().unwrap();
    let client = TcpStream::connect(addr).await.unwrap();
    let (server, _) = alone.accept().await.unwrap();
    drop((server, alone, client));
    let rebound = async {
        while let Err(taken) = TcpListener::bind(addr) {
            assert_eq!(taken.kind(), ErrorKind::AddrInUse);
            sleep(Duration::from_micros(100)).await;
        }
    };
    timeout(Duration::from_secs(10), rebound).await.unwrap();
}

#[corelane::test(shards = 1)]
async fn an_address_of_another_machine_is_not_available() {
    // TEST-NET-1 (RFC 5737): nobody has it.
    let refused = TcpListener::bind("192.0.2.1:0").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::AddrNotAvailable);
}

#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn nobody_who_listens_is_a_refusal() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    drop(listener);
    let refused = TcpStream::connect(addr).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
}

#[corelane::test(shards = 1)]
async fn small_writes_go_at_once_unless_nagle_was_asked_for() {
    for (options, expected) in [
        (ListenOptions::new(), true),
        (ListenOptions::new().nagle(), false),
    ] {
        let listener = TcpListener::bind_with("127.0.0.1:0", &options).unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap())
            .await
            .unwrap();
        let (server, _) = listener.accept().await.unwrap();
        assert_eq!(server.into_std().unwrap().nodelay().unwrap(), expected);
        client.set_nodelay(expected).unwrap();
        assert_eq!(client.into_std().unwrap().nodelay().unwrap(), expected);
    }
}

#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn all_who_accept_at_one_listener_are_served() {
    let listener = Rc::new(TcpListener::bind("127.0.0.1:0").unwrap());
    let addr = listener.local_addr().unwrap();
    let accepting: Vec<_> = (0..5)
        .map(|_| {
            let listener = Rc::clone(&listener);
            spawn(async move { listener.accept().await.unwrap().1 })
        })
        .collect();
    yield_now().await;
    let mut clients = Vec::new();
    for _ in 0..5 {
        clients.push(TcpStream::connect(addr).await.unwrap());
        yield_now().await;
    }
    let mut found = Vec::new();
    for task in accepting {
        found.push(task.await.unwrap());
    }
    let mut expected: Vec<_> = clients.iter().map(|c| c.local_addr().unwrap()).collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn a_client_that_has_gone_before_it_was_accepted_does_no_harm() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    for _ in 0..20 {
        drop(TcpStream::connect(addr).await.unwrap());
    }
    let last = TcpStream::connect(addr).await.unwrap();
    last.write_all("last").await.0.unwrap();
    loop {
        let (server, peer) = listener.accept().await.unwrap();
        if peer == last.local_addr().unwrap() {
            assert_eq!(&server.read_chunk().await.unwrap()[..], b"last");
            break;
        }
    }
}
