//! Streams: what comes in is what went out, to its end.
#![allow(clippy::unwrap_used)]

mod tcp_pair;

use std::io::{self, ErrorKind};
use std::net::Shutdown;
use std::rc::Rc;

use corelane::io::{IoBuf, IoBufMut};
use corelane::net::{TcpListener, TcpStream};
use corelane::spawn;
use futures_util::{AsyncReadExt, AsyncWriteExt};
use tcp_pair::pair;

/// Bytes that differ at each place, for as long as a test needs.
fn payload(seed: u32, len: usize) -> Vec<u8> {
    (0..len as u32)
        .map(|at| (at.wrapping_mul(2_654_435_761) >> 11 ^ seed) as u8)
        .collect()
}

async fn read_to_end(stream: &TcpStream) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        let chunk = stream.read_chunk().await?;
        if chunk.is_empty() {
            return Ok(all);
        }
        all.extend_from_slice(&chunk);
    }
}

#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn messages_of_every_size_arrive_whole() {
    let (client, server) = pair().await;
    let client = Rc::new(client);
    for len in [1, 2, 63, 64, 65, 4095, 4096, 4097, 16 * 1024, 65_537] {
        let message = payload(len as u32, len);
        let sent = spawn({
            let (client, message) = (Rc::clone(&client), message.clone());
            async move { client.write_all(message).await.0 }
        });
        let (read, received) = server.read_exact(vec![0; len].into_boxed_slice()).await;
        read.unwrap();
        assert!(
            received[..] == message[..],
            "a message of {len} bytes changed"
        );
        sent.await.unwrap().unwrap();
    }
}

#[corelane::test(shards = 1)]
async fn megabytes_pass_both_ways_at_once() {
    let (client, server) = pair().await;
    let bytes = payload(7, 8_000_000);
    let echo = spawn(async move {
        loop {
            let chunk = server.read_chunk().await.unwrap();
            if chunk.is_empty() {
                break;
            }
            server.write_all(chunk).await.0.unwrap();
        }
        server.shutdown(Shutdown::Write).unwrap();
    });
    let client = Rc::new(client);
    let writer = spawn({
        let (client, bytes) = (Rc::clone(&client), bytes.clone());
        async move {
            client.write_all(bytes).await.0.unwrap();
            client.shutdown(Shutdown::Write).unwrap();
        }
    });
    let all = read_to_end(&client).await.unwrap();
    assert!(all == bytes, "{} bytes came back changed", all.len());
    echo.await.unwrap();
    writer.await.unwrap();
}

#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn a_buffer_without_room_or_bytes_is_answered_at_once() {
    let (client, server) = pair().await;
    let (read, buf) = server.read(Vec::new()).await;
    assert_eq!((read.unwrap(), buf.len()), (0, 0));
    let (read, buf) = server.read(vec![1; 8].slice(3..3)).await;
    assert_eq!((read.unwrap(), buf.into_inner()), (0, vec![1; 8]));
    assert_eq!(client.write(Vec::new()).await.0.unwrap(), 0);
    client.write_all("").await.0.unwrap();
    client.write_all("data").await.0.unwrap();
    // None of these was the end.
    assert_eq!(&server.read_chunk().await.unwrap()[..], b"data");
}

#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn reads_go_where_the_buffer_says() {
    let (client, server) = pair().await;
    client.write_all("0123456789").await.0.unwrap();
    // A buffer that is full of old data is read over, from its start.
    let (read, buf) = server.read(vec![b'x'; 4]).await;
    assert!(read.unwrap() == 4 && buf[..4] == *b"0123" && buf.bytes_total() >= 4);
    // A part of a buffer takes what fits, and the rest of it stays.
    let (read, part) = server.read(vec![b'x'; 8].slice(2..5)).await;
    assert_eq!(
        (read.unwrap(), part.into_inner()),
        (3, b"xx456xxx".to_vec())
    );
    // Spare room behind data makes the buffer longer.
    let mut tail = Vec::with_capacity(64);
    tail.extend_from_slice(b"<");
    let (read, part) = server.read(tail.slice(1..)).await;
    assert_eq!((read.unwrap(), part.into_inner()), (3, b"<789".to_vec()));
}

#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn each_direction_ends_on_its_own() {
    let (client, server) = pair().await;
    client.write_all("request").await.0.unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(read_to_end(&server).await.unwrap(), b"request");
    // The end stays the end.
    assert_eq!(server.read(vec![0; 4]).await.0.unwrap(), 0);
    assert!(server.read_chunk().await.unwrap().is_empty());
    server.write_all("answer").await.0.unwrap();
    drop(server);
    assert_eq!(read_to_end(&client).await.unwrap(), b"answer");
    let (wrote, buf) = client.write("more").await;
    assert_eq!(
        (wrote.unwrap_err().kind(), buf),
        (ErrorKind::BrokenPipe, "more")
    );
}

#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn the_end_that_comes_while_a_read_waits_is_found() {
    for last in ["", "last words"] {
        let (client, server) = pair().await;
        let reader = spawn(async move { read_to_end(&server).await });
        corelane::task::yield_now().await;
        client.write_all(last).await.0.unwrap();
        drop(client);
        assert_eq!(reader.await.unwrap().unwrap(), last.as_bytes());
    }
}

#[corelane::test(shards = 1)]
async fn a_reset_is_an_error_of_the_read_that_meets_it() {
    let (client, server) = pair().await;
    server.write_all("never read").await.0.unwrap();
    let reader = spawn(async move { (server.read(vec![0; 8]).await, server) });
    corelane::task::yield_now().await;
    // Bytes that nobody read turn a close into a reset.
    let client = client.into_std().unwrap();
    client.peek(&mut [0; 1]).unwrap();
    drop(client);
    let ((read, buf), server) = reader.await.unwrap();
    assert_eq!(read.unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!(buf, [0; 8]);
    let gone = server.write("to nobody").await.0.unwrap_err().kind();
    assert!(
        matches!(gone, ErrorKind::BrokenPipe | ErrorKind::ConnectionReset),
        "{gone:?}"
    );
}

#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn several_readers_of_one_stream_share_its_bytes() {
    let (client, server) = pair().await;
    let server = Rc::new(server);
    let readers: Vec<_> = (0..4)
        .map(|_| {
            let server = Rc::clone(&server);
            spawn(async move { read_to_end(&server).await.unwrap().len() })
        })
        .collect();
    for _ in 0..100 {
        client.write_all(vec![1; 1000]).await.0.unwrap();
        corelane::task::yield_now().await;
    }
    drop(client);
    let mut total = 0;
    for reader in readers {
        total += reader.await.unwrap();
    }
    assert_eq!(total, 100_000);
}

#[corelane::test(shards = 1)]
async fn a_stream_goes_to_std_and_back() {
    let (client, server) = pair().await;
    let mut outside = server.into_std().unwrap();
    let echo = std::thread::spawn(move || {
        let mut word = [0; 4];
        io::Read::read_exact(&mut outside, &mut word).unwrap();
        io::Write::write_all(&mut outside, &word).unwrap();
        outside
    });
    client.write_all("ping").await.0.unwrap();
    assert_eq!(&client.read_exact(Box::new([0; 4])).await.1[..], b"ping");
    let server = TcpStream::from_std(echo.join().unwrap()).unwrap();
    client.write_all("pong").await.0.unwrap();
    assert_eq!(&server.read_exact(Box::new([0; 4])).await.1[..], b"pong");
}

#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn the_adapter_reads_and_writes_borrowed_buffers() {
    let (client, server) = pair().await;
    let bytes = payload(3, 300_000);
    let echo = spawn(async move {
        let (read, mut write) = server.compat().split();
        futures_util::io::copy(read, &mut write).await.unwrap();
        write.close().await.unwrap();
    });
    let (mut read, mut write) = client.compat().split();
    let writer = spawn({
        let bytes = bytes.clone();
        async move {
            write.write_all(&bytes).await.unwrap();
            write.flush().await.unwrap();
            write.close().await.unwrap();
        }
    });
    let mut all = Vec::new();
    read.read_to_end(&mut all).await.unwrap();
    assert!(all == bytes, "{} bytes came back changed", all.len());
    echo.await.unwrap();
    writer.await.unwrap();
}

#[corelane::test(shards = 1)]
async fn both_address_families_work_or_the_kernel_says_why() {
    let has_v6 = std::net::TcpListener::bind("[::1]:0");
    match (TcpListener::bind("[::1]:0"), has_v6) {
        (Ok(listener), Ok(_)) => {
            let addr = listener.local_addr().unwrap();
            let client = TcpStream::connect(addr).await.unwrap();
            let (server, peer) = listener.accept().await.unwrap();
            assert_eq!(
                (peer, client.peer_addr().unwrap()),
                (client.local_addr().unwrap(), addr)
            );
            assert_eq!(
                (server.local_addr().unwrap(), server.peer_addr().unwrap()),
                (addr, peer)
            );
            client.write_all("six").await.0.unwrap();
            assert_eq!(&server.read_chunk().await.unwrap()[..], b"six");
        }
        (Err(ours), Err(std)) => assert_eq!(ours.raw_os_error(), std.raw_os_error()),
        (ours, std) => panic!("a machine of two minds: {ours:?} and {std:?}"),
    }
}
