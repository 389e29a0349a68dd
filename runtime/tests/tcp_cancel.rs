//! Cancellation: a dropped future loses no bytes, no connection and no buffer.
#![allow(clippy::unwrap_used)]

mod tcp_pair;

use std::collections::HashSet;
use std::net::Shutdown;
use std::time::Duration;

use corelane::net::{TcpListener, TcpStream};
use corelane::task::yield_now;
use corelane::time::timeout;
use corelane::{JoinError, spawn};
use futures_util::FutureExt;
use futures_util::future::{Either, select};
use std::pin::pin;
use tcp_pair::pair;

/// Polls a future a few times with turns of the shard between, then drops it.
async fn try_for_a_while<F: Future>(turns: u32, future: F) -> Option<F::Output> {
    let patience = async {
        for _ in 0..turns {
            yield_now().await;
        }
    };
    match select(pin!(future), pin!(patience)).await {
        Either::Left((output, _)) => Some(output),
        Either::Right(_) => None,
    }
}

// proves: RT-13
#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn bytes_that_meet_a_dropped_read_stay_for_the_next() {
    let (client, server) = pair().await;
    let sent: Vec<u8> = (0..30_000_u32).map(|n| (n % 253) as u8).collect();
    let writer = spawn({
        let sent = sent.clone();
        async move {
            for (round, piece) in sent.chunks(61).enumerate() {
                client.write_all(piece.to_vec()).await.0.unwrap();
                for _ in 0..round % 4 {
                    yield_now().await;
                }
            }
            client.shutdown(Shutdown::Write).unwrap();
            client
        }
    });
    let mut received = Vec::new();
    for round in 0.. {
        let turns = round % 3;
        match round % 4 {
            0 => {
                let read = server.read(Vec::with_capacity(17));
                if let Some((n, buf)) = try_for_a_while(turns, read).await {
                    received.extend_from_slice(&buf[..n.unwrap()]);
                }
            }
            1 => {
                if let Some(chunk) = try_for_a_while(turns, server.read_chunk()).await {
                    received.extend_from_slice(&chunk.unwrap());
                }
            }
            2 => {
                if let Some((n, buf)) = server.read(vec![0; 64]).now_or_never() {
                    received.extend_from_slice(&buf[..n.unwrap()]);
                }
            }
            _ => {
                let (n, buf) = server.read(vec![0; 100]).await;
                if n.unwrap() == 0 {
                    break;
                }
                received.extend_from_slice(&buf);
            }
        }
    }
    assert!(
        received == sent,
        "{} of {} bytes, or others",
        received.len(),
        sent.len()
    );
    writer.await.unwrap();
}

// proves: RT-13
#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn a_read_that_ran_out_of_time_leaves_the_bytes() {
    let (client, server) = pair().await;
    for round in 0..20_u8 {
        let late = timeout(Duration::from_micros(50), server.read(vec![0; 8])).await;
        assert!(late.is_err(), "nothing was sent yet");
        client.write_all(vec![round; 8]).await.0.unwrap();
        let (read, buf) = server.read_exact(vec![0; 8].into_boxed_slice()).await;
        read.unwrap();
        assert_eq!(buf[..], [round; 8]);
    }
}

// proves: RT-13
#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn connections_that_meet_a_dropped_accept_stay_for_the_next() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let clients = spawn(async move {
        let mut clients = Vec::new();
        for round in 0..200_u32 {
            clients.push(TcpStream::connect(addr).await.unwrap());
            for _ in 0..round % 3 {
                yield_now().await;
            }
        }
        clients
    });
    let mut accepted = Vec::new();
    for round in 0..2000_u32 {
        let connection = match round % 2 {
            0 => try_for_a_while(round % 5, listener.accept()).await,
            _ => listener.accept().now_or_never(),
        };
        accepted.extend(connection.map(Result::unwrap));
        if accepted.len() == 200 {
            break;
        }
        if round % 50 == 0 {
            yield_now().await;
        }
    }
    while accepted.len() < 200 {
        accepted.push(listener.accept().await.unwrap());
    }
    let clients = clients.await.unwrap();
    let expected: HashSet<_> = clients.iter().map(|c| c.local_addr().unwrap()).collect();
    let found: HashSet<_> = accepted.iter().map(|(_, peer)| *peer).collect();
    assert_eq!(found, expected);
    assert!(
        listener.accept().now_or_never().is_none(),
        "a connection came twice"
    );
}

// proves: RT-13
#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn a_dropped_write_sends_a_start_of_its_bytes_and_no_others() {
    let (client, server) = pair().await;
    let piece: Vec<u8> = (0..100_003_u32).map(|n| (n % 251) as u8).collect();
    let mut reported = Vec::new();
    let dropped = loop {
        match try_for_a_while(20, client.write(piece.clone())).await {
            Some((n, _)) => reported.extend_from_slice(&piece[..n.unwrap()]),
            None => break piece,
        }
    };
    client.shutdown(Shutdown::Write).unwrap();
    let mut received = Vec::new();
    loop {
        let chunk = server.read_chunk().await.unwrap();
        if chunk.is_empty() {
            break;
        }
        received.extend_from_slice(&chunk);
    }
    let (start, rest) = received.split_at(reported.len());
    assert!(start == reported, "bytes that were reported did not arrive");
    assert!(dropped.starts_with(rest), "bytes arrived that nobody wrote");
}

// proves: RT-13
#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn a_stream_that_goes_while_its_task_waits_closes_the_connection() {
    for _ in 0..50 {
        let (client, server) = pair().await;
        let reader = spawn(async move { server.read(vec![0; 1 << 16]).await.0 });
        yield_now().await;
        reader.abort();
        assert!(matches!(reader.await, Err(JoinError::Cancelled)));
        assert_eq!(
            client.read(vec![0; 8]).await.0.unwrap(),
            0,
            "the peer is still there"
        );
    }
}

// proves: RT-13
#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn a_dropped_connect_leaves_no_half_open_stream() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let mut whole = 0;
    for round in 0..50 {
        if let Some(stream) = try_for_a_while(round % 3, TcpStream::connect(addr)).await {
            stream.unwrap().write_all("whole").await.0.unwrap();
            whole += 1;
        }
    }
    let last = TcpStream::connect(addr).await.unwrap();
    last.write_all("last").await.0.unwrap();
    let mut found = 0;
    loop {
        // Each connection ends: none is kept open by an attempt that was given up.
        let (server, _) = listener.accept().await.unwrap();
        match &server.read_chunk().await {
            Ok(chunk) if chunk[..] == *b"last" => break,
            Ok(chunk) if chunk[..] == *b"whole" => found += 1,
            Ok(chunk) => assert!(chunk.is_empty(), "{chunk:?}"),
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
        }
    }
    assert_eq!(found, whole);
}
