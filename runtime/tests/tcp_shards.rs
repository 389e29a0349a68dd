//! Sockets of several shards.
#![allow(clippy::unwrap_used)]

use std::net::SocketAddr;

use corelane::net::{ListenOptions, TcpListener, TcpStream};
use corelane::{Shard, shards, spawn};

async fn echo(stream: TcpStream) {
    loop {
        let chunk = stream.read_chunk().await.unwrap();
        if chunk.is_empty() {
            return;
        }
        stream.write_all(chunk).await.0.unwrap();
    }
}

async fn ask(addr: SocketAddr, number: u8) {
    let client = TcpStream::connect(addr).await.unwrap();
    for round in 0..10 {
        let message = vec![number ^ round; 1000];
        let (wrote, message) = client.write_all(message).await;
        wrote.unwrap();
        let (read, back) = client.read_exact(vec![0; 1000].into_boxed_slice()).await;
        read.unwrap();
        assert_eq!(back[..], message[..]);
    }
}

/// The shards but this one.
fn others() -> Vec<Shard> {
    let here = corelane::shard().index();
    shards()
        .iter()
        .filter(|shard| shard.index() != here)
        .cloned()
        .collect()
}

#[corelane::test(shards = 3)]
async fn a_connection_accepted_here_is_served_there() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let others = others();
    assert_eq!(others.len(), 2);
    let mut clients = Vec::new();
    for number in 0..20_u8 {
        clients.push(spawn(ask(addr, number)));
        let (stream, _) = listener.accept().await.unwrap();
        let stream = stream.into_std().unwrap();
        let serve = move || async move {
            spawn(echo(TcpStream::from_std(stream).unwrap())).detach();
        };
        others[usize::from(number) % 2].submit(serve).await.unwrap();
    }
    for client in clients {
        client.await.unwrap();
    }
}

#[corelane::test(shards = 3)]
async fn a_listener_on_each_shard_shares_the_address() {
    let options = ListenOptions::new().reuse_port();
    let first = TcpListener::bind_with("127.0.0.1:0", &options).unwrap();
    let addr = first.local_addr().unwrap();
    drop(first);
    for shard in others() {
        let serve = move || async move {
            let options = ListenOptions::new().reuse_port();
            let listener = TcpListener::bind_with(addr, &options).unwrap();
            let accept = async move {
                loop {
                    spawn(echo(listener.accept().await.unwrap().0)).detach();
                }
            };
            spawn(accept).detach();
        };
        shard.submit(serve).await.unwrap();
    }
    let clients: Vec<_> = (0..20).map(|number| spawn(ask(addr, number))).collect();
    for client in clients {
        client.await.unwrap();
    }
}
