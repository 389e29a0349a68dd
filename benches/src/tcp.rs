//! TCP echo on our streams.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use corelane::net::{ListenOptions, TcpListener, TcpStream};
use corelane::{IdlePolicy, Placement, Runtime};
use corelane_bench_harness::{BenchError, EchoLog, Entry, Params, Sample, Serving, echo_pair};

use futures_util::future::select_all;
use thread_aware::registry::original_mask;

use crate::tasks::on_shard;
use crate::{WHO, driver, ours};

pub(crate) fn entries() -> Vec<Entry> {
    vec![
        Entry::round(("tcp", "echo_64b_c1_spin"), WHO, |params| {
            echo_c1(params, IdlePolicy::SpinThenPark(IdlePolicy::SPIN_DEFAULT))
        }),
        Entry::round(("tcp", "echo_64b_c1_park"), WHO, |params| {
            echo_c1(params, IdlePolicy::Park)
        }),
        Entry::server("echo_64b_c64", WHO, serve),
        Entry::server("echo_64b_c1000", WHO, serve),
        Entry::server("echo_16k_c64", WHO, serve),
        Entry::server("accept_churn", WHO, serve),
    ]
}

/// The only connection: the shard's pooled chunks in, the same chunks out.
async fn echo_chunks(stream: TcpStream) {
    // A reset ends the connection like an end of stream: the client checks what it received.
    while let Ok(chunk) = stream.read_chunk().await {
        if chunk.is_empty() || stream.write_all(chunk).await.0.is_err() {
            return;
        }
    }
}

/// One of many connections: a buffer of the request's size for each, as with every peer.
async fn echo_buffer(stream: TcpStream, bytes: usize) {
    let mut buffer = Vec::with_capacity(bytes);
    loop {
        let (received, filled) = stream.read(buffer).await;
        if !matches!(received, Ok(1..)) {
            return;
        }
        let (sent, mut emptied) = stream.write_all(filled).await;
        if sent.is_err() {
            return;
        }
        emptied.clear();
        buffer = emptied;
    }
}

fn echo_c1(params: &Params, idle: IdlePolicy) -> Result<Sample, BenchError> {
    // Remembered before the round pins its threads: a runtime takes the first mask that it sees for
    // the process's, and each end starts its own.
    original_mask().map_err(ours)?;
    let (first, second) = (params.cores.first, params.cores.second);
    let serve = move |listener: std::net::TcpListener| {
        let (socket, _) = listener.accept().map_err(BenchError::io("accept"))?;
        on_shard(first, idle, move || async move {
            let stream =
                TcpStream::from_std(socket).map_err(BenchError::io("take a stream over"))?;
            stream
                .set_nodelay(true)
                .map_err(BenchError::io("set TCP_NODELAY"))?;
            echo_chunks(stream).await;
            Ok(())
        })
    };
    let ask = move |address, log| on_shard(second, idle, move || drive(address, log));
    echo_pair(params, serve, ask)
}

async fn drive(address: SocketAddr, mut log: EchoLog) -> Result<EchoLog, BenchError> {
    let stream = TcpStream::connect(address)
        .await
        .map_err(BenchError::io("connect"))?;
    stream
        .set_nodelay(true)
        .map_err(BenchError::io("set TCP_NODELAY"))?;
    let mut request = Vec::with_capacity(log.request().len());
    let mut reply = Vec::with_capacity(log.request().len());
    log.remark(driver());
    while log.begin() {
        request.clear();
        request.extend_from_slice(log.request());
        let (sent, buffer) = stream.write_all(request).await;
        sent.map_err(BenchError::io("send"))?;
        request = buffer;
        reply.clear();
        while reply.len() < request.len() {
            let chunk = stream
                .read_chunk()
                .await
                .map_err(BenchError::io("receive"))?;
            if chunk.is_empty() {
                let done = reply.len() as u64;
                return Err(BenchError::Stalled {
                    done,
                    of: request.len() as u64,
                });
            }
            reply.extend_from_slice(&chunk);
        }
        log.end(&reply)?;
    }
    Ok(log)
}

/// Serves on all shards, each with its own listener on the port; shards park, since the row counts
/// processor time.
fn serve(serving: Serving) -> Result<(), BenchError> {
    let Serving {
        listeners,
        cores,
        ready,
        counters,
        bytes,
        ..
    } = serving;
    let address = listeners[0]
        .local_addr()
        .map_err(BenchError::io("read the port"))?;
    let shards = cores.len();
    let (bound, await_bound) = channel();
    std::thread::spawn(move || {
        // The harness's own listeners hold the port until ours do; connections must not go to them.
        let all_bound = await_bound.iter().take(shards).count() == shards;
        drop(listeners);
        if all_bound && ready.send(()).is_err() {
            eprintln!("the server is ready and nobody listens");
        }
    });
    let running = Runtime::builder()
        .placement(Placement::Cores(cores))
        .idle(IdlePolicy::Park)
        .start()
        .map_err(ours)?;
    let running = Arc::new(running);
    let counted = Arc::clone(&running);
    counters.read_by(move || {
        let shards = counted.metrics().shards;
        shards.iter().fold((0, 0), |(enters, completions), shard| {
            let received = shard.driver_completions;
            (enters + shard.driver_enters, completions + received)
        })
    });
    let serving = running.shard(0).submit(move || async move {
        let calls = corelane::shards()
            .iter()
            .map(|shard| {
                let bound = bound.clone();
                shard.submit(move || accept_all(address, bytes, bound))
            })
            .collect::<Vec<_>>();
        counters.remark(driver());
        // Each serves for ever: whichever ends first has failed.
        select_all(calls).await.0.map_err(ours)?
    });
    serving.wait().map_err(ours)?
}

async fn accept_all(
    address: SocketAddr,
    bytes: usize,
    bound: Sender<()>,
) -> Result<(), BenchError> {
    let options = ListenOptions::new().reuse_port();
    let listener = TcpListener::bind_with(address, &options).map_err(BenchError::io("bind"))?;
    bound.send(()).map_err(|_| BenchError::Panicked)?;
    loop {
        let (stream, _) = listener.accept().await.map_err(BenchError::io("accept"))?;
        corelane::spawn(echo_buffer(stream, bytes)).detach();
    }
}
