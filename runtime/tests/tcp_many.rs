//! Many connections at once.
#![allow(clippy::unwrap_used)]

use corelane::net::{ListenOptions, TcpListener, TcpStream};
use corelane::spawn;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const CONNECTIONS: usize = 1000;
const ROUNDS: usize = 4;

/// Two descriptors a connection, and some for the runtime.
const DESCRIPTORS: u64 = 2 * CONNECTIONS as u64 + 200;

fn allow_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < DESCRIPTORS) {
        let raised = Rlimit {
            current: Some(DESCRIPTORS),
            maximum: limit.maximum,
        };
        setrlimit(Resource::Nofile, raised).unwrap();
    }
}

async fn echo(stream: TcpStream) {
    loop {
        let chunk = stream.read_chunk().await.unwrap();
        if chunk.is_empty() {
            return;
        }
        stream.write_all(chunk).await.0.unwrap();
    }
}

/// Sends messages of several sizes and checks that each comes back unchanged.
async fn client(addr: std::net::SocketAddr, number: usize) {
    let stream = TcpStream::connect(addr).await.unwrap();
    for round in 0..ROUNDS {
        let len = [64, 16 * 1024, 1, 3000][(number + round) % 4];
        let seed = (number * 31 + round) as u8;
        let message: Vec<u8> = (0..len).map(|at| seed.wrapping_add(at as u8)).collect();
        let (wrote, message) = stream.write_all(message).await;
        wrote.unwrap();
        let (read, back) = stream.read_exact(vec![0; len].into_boxed_slice()).await;
        read.unwrap();
        assert!(
            back[..] == message[..],
            "connection {number}, round {round}"
        );
    }
}

#[corelane::test(shards = 1)]
async fn a_thousand_connections_echo_without_loss() {
    allow_descriptors();
    let options = ListenOptions::new().backlog(CONNECTIONS as u16);
    let listener = TcpListener::bind_with("127.0.0.1:0", &options).unwrap();
    let addr = listener.local_addr().unwrap();
    let clients: Vec<_> = (0..CONNECTIONS).map(|n| spawn(client(addr, n))).collect();
    let mut servers = Vec::new();
    while servers.len() < CONNECTIONS {
        servers.push(spawn(echo(listener.accept().await.unwrap().0)));
    }
    for task in clients.into_iter().chain(servers) {
        task.await.unwrap();
    }
}
