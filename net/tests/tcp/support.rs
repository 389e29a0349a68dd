//! Clients, handlers and waits that the tests share.

use std::net::SocketAddr;
use std::time::Duration;

use corelane::net::TcpStream;
use corelane::time::{sleep, timeout};
use corelane_net::{Binding, Connection, ConnectionStats, Stats};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// No wait of these tests is longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Sends everything back until the client ends or breaks the connection.
pub(crate) async fn echo(conn: Connection) {
    while let Ok(chunk) = conn.read_chunk().await {
        if chunk.is_empty() || conn.write_all(chunk).await.0.is_err() {
            return;
        }
    }
}

/// Connects, and sees by an echo that the connection is served.
pub(crate) async fn served(addr: SocketAddr) -> TcpStream {
    let client = TcpStream::connect(addr).await.unwrap();
    ask(&client, vec![7]).await;
    client
}

/// Sends `message` and sees it come back unchanged.
pub(crate) async fn ask(client: &TcpStream, message: Vec<u8>) {
    let (wrote, message) = client.write_all(message).await;
    wrote.unwrap();
    let back = vec![0; message.len()].into_boxed_slice();
    let (read, back) = client.read_exact(back).await;
    read.unwrap();
    assert!(back[..] == message[..]);
}

/// Whether the server has ended or broken the connection; waits until it has or sends.
pub(crate) async fn is_closed(client: &TcpStream) -> bool {
    let read = timeout(PATIENCE, client.read_chunk()).await.unwrap();
    read.map_or(true, |chunk| chunk.is_empty())
}

/// Waits until the binding's sums are as `wanted`.
pub(crate) async fn until(binding: &Binding, wanted: impl Fn(ConnectionStats) -> bool) {
    let reached = async {
        while !wanted(binding.stats().total) {
            sleep(Duration::from_micros(100)).await;
        }
    };
    let waited = timeout(PATIENCE, reached).await;
    assert!(waited.is_ok(), "{:?}", binding.stats());
}

/// Closes by `deadline`, and sees that it does not take for ever.
pub(crate) async fn close(binding: &mut Binding, deadline: Duration) -> Stats {
    let closed = timeout(PATIENCE, binding.close(deadline)).await;
    closed.expect("a close ends").unwrap()
}

/// Closes, and lets every connection end by itself.
pub(crate) async fn close_at_leisure(binding: &mut Binding) -> Stats {
    close(binding, Duration::MAX).await
}

/// Each accepted connection is in one of the sums.
pub(crate) fn assert_whole(total: ConnectionStats) {
    assert_eq!(total.accepted, total.open + total.closed(), "{total:?}");
}

/// Raises the limit of descriptors to what that many connections and a runtime need.
pub(crate) fn allow_connections(count: u64) {
    let wanted = 2 * count + 200;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < wanted) {
        let raised = Rlimit {
            current: Some(wanted),
            maximum: limit.maximum,
        };
        setrlimit(Resource::Nofile, raised).unwrap();
    }
}
