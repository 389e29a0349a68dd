//! TCP streams of one shard, which is both ends.

use std::net::Ipv4Addr;

use corelane::net::{TcpListener, TcpStream};
use corelane::spawn;
use corelane_bench_harness::BenchError;

use super::Hold;
use super::shard::on_one_shard;
use crate::ours;

/// Bytes of a request and of its echo.
const REQUEST_BYTES: usize = 64;

fn io(what: &'static str) -> impl FnOnce(std::io::Error) -> BenchError {
    BenchError::io(what)
}

/// A connection's two ends.
async fn pair(listener: &TcpListener) -> Result<(TcpStream, TcpStream), BenchError> {
    let address = listener.local_addr().map_err(io("local address"))?;
    let near = TcpStream::connect(address).await.map_err(io("connect"))?;
    let (far, _) = listener.accept().await.map_err(io("accept"))?;
    for end in [&near, &far] {
        end.set_nodelay(true).map_err(io("set TCP_NODELAY"))?;
    }
    Ok((near, far))
}

fn listen() -> Result<TcpListener, BenchError> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(io("listen"))
}

async fn answer(stream: TcpStream) -> Result<u64, BenchError> {
    let mut answered = 0;
    loop {
        let chunk = stream.read_chunk().await.map_err(io("receive"))?;
        if chunk.is_empty() {
            return Ok(answered);
        }
        answered += chunk.len() as u64;
        stream.write_all(chunk).await.0.map_err(io("echo"))?;
    }
}

/// An operation: 64 bytes go to the other end and come back.
pub(super) fn echo(ops: u64, hold: Hold) -> Result<(), BenchError> {
    on_one_shard(move || async move {
        let listener = listen()?;
        let (near, far) = pair(&listener).await?;
        let far = spawn(answer(far));
        let mut buffer = vec![0_u8; REQUEST_BYTES];
        let mut equal = 0;
        for number in 0..ops {
            buffer.fill(number as u8);
            let (sent, mut back) = near.write_all(buffer).await;
            sent.map_err(io("send"))?;
            back.clear();
            let (received, filled) = near.read_exact(back).await;
            received.map_err(io("receive the echo"))?;
            equal += u64::from(filled == [number as u8; REQUEST_BYTES]);
            buffer = filled;
        }
        hold();
        drop(near);
        BenchError::check("echoes", ops, equal)?;
        let answered = far.await.map_err(ours)??;
        BenchError::check("bytes", ops * REQUEST_BYTES as u64, answered)
    })
}

/// An operation: a connection is made, kept beside all others with a task that waits for its first
/// bytes, and closed.
pub(super) fn held(ops: u64, hold: Hold) -> Result<(), BenchError> {
    on_one_shard(move || async move {
        let listener = listen()?;
        let mut kept = Vec::with_capacity(ops as usize);
        for _ in 0..ops {
            let (near, far) = pair(&listener).await?;
            kept.push((near, spawn(answer(far))));
        }
        corelane::task::yield_now().await;
        hold();
        let mut ended = 0;
        for (near, far) in kept {
            drop(near);
            ended += u64::from(far.await.map_err(ours)?? == 0);
        }
        BenchError::check("connections that ended", ops, ended)
    })
}
