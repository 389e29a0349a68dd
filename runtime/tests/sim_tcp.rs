//! TCP between the shards of a simulation, as a user sees it.
#![allow(clippy::unwrap_used)]

use std::io::{self, ErrorKind};
use std::net::{Shutdown, SocketAddr};
use std::time::Duration;

use corelane::net::{ListenOptions, TcpListener, TcpStream};
use corelane::time::{Instant, sleep, timeout};
use corelane::{Builder, Placement, Runtime, Shard, sim, spawn};
use futures_util::{AsyncReadExt, AsyncWriteExt};

const SEEDS: u64 = 25;

fn shards(count: usize) -> Builder {
    Runtime::builder().placement(Placement::Unpinned(count))
}

fn shard(index: usize) -> Shard {
    corelane::shards()[index].clone()
}

fn payload(seed: usize, len: usize) -> Vec<u8> {
    (0..len)
        .map(|at| (at.wrapping_mul(2_654_435_761) >> 11 ^ seed) as u8)
        .collect()
}

/// Starts an echo server on this shard.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind(([127, 0, 0, 1], 0)).unwrap();
    let addr = listener.local_addr().unwrap();
    let accept = async move {
        while let Ok((stream, _)) = listener.accept().await {
            spawn(async move { echo(stream).await.unwrap() }).detach();
        }
    };
    spawn(accept).detach();
    addr
}

async fn echo(stream: TcpStream) -> io::Result<()> {
    loop {
        let chunk = stream.read_chunk().await?;
        if chunk.is_empty() {
            return stream.shutdown(Shutdown::Write);
        }
        stream.write_all(chunk).await.0?;
    }
}

/// Sends `bytes` and returns what comes back until the end.
async fn ask(addr: SocketAddr, bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    let stream = std::rc::Rc::new(TcpStream::connect(addr).await?);
    let sender = std::rc::Rc::clone(&stream);
    let sent = spawn(async move {
        sender.write_all(bytes).await.0?;
        sender.shutdown(Shutdown::Write)
    });
    let mut all = Vec::new();
    loop {
        let (read, buf) = stream.read(Vec::with_capacity(700)).await;
        if read? == 0 {
            break;
        }
        all.extend_from_slice(&buf);
    }
    sent.await.unwrap()?;
    Ok(all)
}

// proves: RT-22
#[test]
fn streams_between_shards_carry_every_byte_for_every_seed() {
    sim::for_seeds(&shards(4), SEEDS, async || {
        let addr = shard(1).submit(|| async { serve() }).await.unwrap();
        let clients: Vec<_> = (0..12)
            .map(|client| {
                spawn(async move {
                    let len = [1, 700, 5_000, 200_000][client / 3];
                    let call =
                        move || async move { ask(addr, payload(client, len)).await.unwrap() };
                    let back = shard(client % 4).submit(call).await.unwrap();
                    assert!(
                        back == payload(client, len),
                        "{len} bytes came back changed"
                    );
                })
            })
            .collect();
        for client in clients {
            client.await.unwrap();
        }
    });
}

// proves: RT-22
#[test]
fn traces_of_traffic_differ_between_seeds_alone() {
    let main = || async {
        let addr = shard(1).submit(|| async { serve() }).await.unwrap();
        ask(addr, payload(3, 10_000)).await.unwrap().len()
    };
    let run = |seed| shards(2).simulate(seed, main).unwrap();
    let runs: Vec<_> = (0..6).map(run).collect();
    assert_eq!(runs, (0..6).map(run).collect::<Vec<_>>());
    for (i, (len, report)) in runs.iter().enumerate() {
        assert_eq!(*len, 10_000);
        let hash = report.trace_hash();
        assert!(
            runs[..i]
                .iter()
                .all(|(_, other)| other.trace_hash() != hash),
            "seed {i}"
        );
    }
}

#[test]
fn futures_io_works_on_simulated_streams() {
    sim::for_seeds(&shards(2), SEEDS, async || {
        let addr = shard(1).submit(|| async { serve() }).await.unwrap();
        let mut stream = TcpStream::connect(addr).await.unwrap().compat();
        stream.write_all(b"to be echoed").await.unwrap();
        stream.close().await.unwrap();
        let mut all = String::new();
        stream.read_to_string(&mut all).await.unwrap();
        assert_eq!(all, "to be echoed");
    });
}

#[test]
fn slow_reader_holds_its_writer_back() {
    sim::for_seeds(&shards(2), SEEDS, async || {
        let listener = TcpListener::bind(([127, 0, 0, 1], 0)).unwrap();
        let addr = listener.local_addr().unwrap();
        let call = move || async move {
            let stream = TcpStream::connect(addr).await.unwrap();
            let start = Instant::now();
            stream.write_all(payload(1, 1_000_000)).await.0.unwrap();
            start.elapsed()
        };
        let mut writer = Box::pin(shard(1).submit(call));
        let (stream, _) = listener.accept().await.unwrap();
        assert!(timeout(Duration::from_secs(5), &mut writer).await.is_err());
        let mut left = 1_000_000;
        while left > 0 {
            left -= stream.read_chunk().await.unwrap().len();
        }
        assert!(writer.await.unwrap() >= Duration::from_secs(5));
    });
}

#[test]
fn dropped_read_leaves_its_bytes_to_the_next_one() {
    sim::for_seeds(&shards(2), SEEDS, async || {
        let addr = shard(1).submit(|| async { serve() }).await.unwrap();
        let stream = TcpStream::connect(addr).await.unwrap();
        let bytes = payload(9, 30_000);
        stream.write_all(bytes.clone()).await.0.unwrap();
        let mut all = Vec::new();
        while all.len() < bytes.len() {
            let read = stream.read(Vec::with_capacity(100));
            if let Ok((read, buf)) = timeout(Duration::from_micros(20), read).await {
                assert!(read.unwrap() > 0);
                all.extend_from_slice(&buf);
            }
        }
        assert!(all == bytes, "bytes were lost or came twice");
    });
}

#[test]
fn ends_of_a_connection_are_told_as_on_linux() {
    sim::for_seeds(&shards(2), SEEDS, async || {
        let listener = TcpListener::bind(([127, 0, 0, 1], 0)).unwrap();
        let addr = listener.local_addr().unwrap();
        let client = TcpStream::connect(addr).await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        client.write_all("unread").await.0.unwrap();
        sleep(Duration::from_millis(1)).await;
        drop(server);
        let (read, _) = client.read(vec![0; 8]).await;
        assert_eq!(read.unwrap_err().kind(), ErrorKind::ConnectionReset);
        drop(listener);
        let refused = TcpStream::connect(addr).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    });
}

#[test]
fn shared_address_gives_every_shard_connections() {
    sim::for_seeds(&shards(4), 5, async || {
        let addr = SocketAddr::from(([127, 0, 0, 1], 4_000));
        let mut servers = Vec::new();
        for index in 1..4 {
            let call = move || async move {
                let options = ListenOptions::new().reuse_port();
                let listener = TcpListener::bind_with(addr, &options).unwrap();
                spawn(async move {
                    let mut accepted = 0_u32;
                    while let Ok(next) = timeout(Duration::from_secs(10), listener.accept()).await {
                        next.unwrap();
                        accepted += 1;
                    }
                    accepted
                })
                .await
                .unwrap()
            };
            servers.push(spawn(
                async move { shard(index).submit(call).await.unwrap() },
            ));
        }
        sleep(Duration::from_secs(1)).await;
        for _ in 0..60 {
            TcpStream::connect(addr).await.unwrap();
        }
        let mut counts = Vec::new();
        for server in servers {
            counts.push(server.await.unwrap());
        }
        assert_eq!(counts.iter().sum::<u32>(), 60);
        assert!(counts.iter().all(|&count| count > 0), "{counts:?}");
    });
}

// proves: RT-23
#[test]
fn end_of_a_simulation_drops_whatever_is_open() {
    let main = || async {
        let addr = shard(1).submit(|| async { serve() }).await.unwrap();
        for _ in 0..500 {
            let asking = async move {
                let stream = TcpStream::connect(addr).await.unwrap();
                loop {
                    stream.write_all(vec![7; 900]).await.0.unwrap();
                    stream.read_chunk().await.unwrap();
                }
            };
            spawn(asking).detach();
        }
        sleep(Duration::from_millis(3)).await;
    };
    let (_, report) = shards(3).simulate(1, main).unwrap();
    assert_eq!(report, shards(3).simulate(1, main).unwrap().1);
}
