//! A TCP server that sends everything back, on every shard.
//!
//! Each shard has a listener of its own on the one address (`SO_REUSEPORT`), and a task a
//! connection. It runs until SIGINT or SIGTERM; connections end with it.
//!
//! `cargo run --release --bin echo -- --addr 127.0.0.1:7000`, and in another terminal
//! `socat - TCP:127.0.0.1:7000`.

#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::Parser;
use corelane::Runtime;
use corelane::net::{ListenOptions, TcpListener, TcpStream};
use corelane::signal::Signals;
use corelane_examples::feed::{Driver, Idle};

/// Sends everything back that TCP clients send.
#[derive(Clone, Debug, Parser)]
#[command(name = "echo", version)]
struct Options {
    /// Where to listen; port 0 lets the system choose
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7000")]
    addr: SocketAddr,

    /// How many shards; one a physical core by default
    #[arg(long, value_name = "N")]
    shards: Option<usize>,

    /// The I/O driver
    #[arg(long, value_enum, default_value_t)]
    driver: Driver,

    /// What a shard without work does
    #[arg(long, value_enum, default_value_t)]
    idle: Idle,
}

/// What one shard has done, written by it alone. Relaxed: each is a sum and nothing more.
#[derive(Debug, Default)]
struct Totals {
    connections: AtomicU64,
    broken: AtomicU64,
    bytes: AtomicU64,
}

fn main() -> ExitCode {
    tracing_subscriber::fmt().with_writer(io::stderr).init();
    let options = Options::parse();
    let mut builder = Runtime::builder()
        .driver(options.driver.into())
        .idle(options.idle.into());
    if let Some(shards) = options.shards {
        builder = builder.shards(shards);
    }
    let ended = builder.run(move || serve(options.addr));
    match ended.map_err(io::Error::other).flatten() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to be told when standard error is gone.
            let _ = writeln!(io::stderr(), "echo: {error}");
            ExitCode::from(2)
        }
    }
}

async fn serve(addr: SocketAddr) -> io::Result<()> {
    let mut signals = Signals::new()?;
    // The first listener fixes the port for the others.
    let (addr, first) = listen(addr)?;
    let shards = corelane::shards();
    let mut totals = vec![first];
    for shard in &shards[1..] {
        let listening = shard.submit(move || async move { listen(addr) });
        let (_, its) = listening
            .await
            .map_err(|error| io::Error::other(error.to_string()))??;
        totals.push(its);
    }
    let driver = corelane::shard().driver().map_or("", |info| info.name());
    say(&format!(
        "echo on {addr}, {} shards, {driver}",
        shards.len()
    ))?;
    let signal = signals.next().await;
    let sum = |of: fn(&Totals) -> &AtomicU64| -> u64 {
        let counts = totals
            .iter()
            .map(|totals| of(totals).load(Ordering::Relaxed));
        counts.sum()
    };
    say(&format!(
        "{signal}: {} connections, {} broken, {} bytes",
        sum(|totals| &totals.connections),
        sum(|totals| &totals.broken),
        sum(|totals| &totals.bytes)
    ))
}

/// Listens on this shard; says where, and gives what is counted here.
fn listen(addr: SocketAddr) -> io::Result<(SocketAddr, Arc<Totals>)> {
    let listener = TcpListener::bind_with(addr, &ListenOptions::new().reuse_port())?;
    let (bound, totals) = (listener.local_addr()?, Arc::new(Totals::default()));
    corelane::spawn(accept(listener, Arc::clone(&totals))).detach();
    Ok((bound, totals))
}

async fn accept(listener: TcpListener, totals: Arc<Totals>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                totals.connections.fetch_add(1, Ordering::Relaxed);
                corelane::spawn(echo(stream, Arc::clone(&totals))).detach();
            }
            Err(error) => return tracing::error!(%error, "a shard's listener broke"),
        }
    }
}

/// Sends one connection's bytes back until it ends.
async fn echo(stream: TcpStream, totals: Arc<Totals>) {
    if copy(&stream, &totals.bytes).await.is_err() {
        totals.broken.fetch_add(1, Ordering::Relaxed);
    }
}

async fn copy(stream: &TcpStream, bytes: &AtomicU64) -> io::Result<()> {
    loop {
        let chunk = stream.read_chunk().await?;
        if chunk.is_empty() {
            return Ok(());
        }
        let count = chunk.len() as u64;
        stream.write_all(chunk).await.0?;
        bytes.fetch_add(count, Ordering::Relaxed);
    }
}

fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}
