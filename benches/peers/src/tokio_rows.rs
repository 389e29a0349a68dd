//! tokio: one current-thread runtime a core, tasks local where the row allows it.
//!
//! A current-thread runtime a core is what tokio offers to this shape; it has no spinning form.

use std::net::{SocketAddr, TcpListener as StdListener};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::task::LocalSet;

use corelane_bench_harness::{
    BenchError, EchoLog, Entry, Meter, Params, Sample, Serving, Tally, echo_pair, pin,
};

use crate::local_rows::{self, Local};
use crate::version::named;

pub(crate) fn entries() -> Vec<Entry> {
    let who = named("tokio");
    let local = format!("{who}-LocalSet");
    let mut entries = vec![
        Entry::round(("runtime", "spawn_join"), &who, spawn_join),
        Entry::round(("runtime", "spawn_join"), &local, spawn_join_local),
        Entry::round(("tcp", "echo_64b_c1_spin"), &who, echo_c1).fewer(4),
        Entry::round(("tcp", "echo_64b_c1_park"), &who, echo_c1),
        Entry::server("echo_64b_c64", &who, serve),
        Entry::server("echo_64b_c1000", &who, serve),
        Entry::server("echo_16k_c64", &who, serve),
        Entry::server("accept_churn", &who, serve),
    ];
    entries.extend(local_rows::entries::<Tokio>(&who));
    entries
}

struct Tokio;

impl Local for Tokio {
    fn block_on<T>(future: impl Future<Output = T>) -> Result<T, BenchError> {
        Ok(runtime()?.block_on(future))
    }

    async fn sleep(duration: Duration) {
        tokio::time::sleep(duration).await;
    }

    async fn yield_now() {
        tokio::task::yield_now().await;
    }
}

fn runtime() -> Result<Runtime, BenchError> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(BenchError::io("start tokio"))
}

fn spawn_join(params: &Params) -> Result<Sample, BenchError> {
    pin(params.cores.first)?;
    let ops = params.ops;
    runtime()?.block_on(async {
        let meter = Meter::start();
        let mut tally = Tally::default();
        for number in 0..ops {
            let joined = tokio::spawn(async move { number }).await;
            tally.take(joined.map_err(BenchError::runtime("tokio"))?);
        }
        let spent = meter.stop(ops);
        tally.check(ops)?;
        Ok(spent.wall_sample())
    })
}

fn spawn_join_local(params: &Params) -> Result<Sample, BenchError> {
    pin(params.cores.first)?;
    let ops = params.ops;
    LocalSet::new().block_on(&runtime()?, async {
        let meter = Meter::start();
        let mut tally = Tally::default();
        for number in 0..ops {
            let joined = tokio::task::spawn_local(async move { number }).await;
            tally.take(joined.map_err(BenchError::runtime("tokio"))?);
        }
        let spent = meter.stop(ops);
        tally.check(ops)?;
        Ok(spent.wall_sample())
    })
}

async fn echo(mut stream: TcpStream, bytes: usize) {
    let mut buffer = vec![0; bytes];
    // A reset ends the connection like an end of stream: the client checks what it received.
    while let Ok(received @ 1..) = stream.read(&mut buffer).await {
        if stream.write_all(&buffer[..received]).await.is_err() {
            return;
        }
    }
}

fn listener(listener: StdListener) -> Result<TcpListener, BenchError> {
    listener
        .set_nonblocking(true)
        .map_err(BenchError::io("set O_NONBLOCK"))?;
    TcpListener::from_std(listener).map_err(BenchError::io("hand a listener to tokio"))
}

fn echo_c1(params: &Params) -> Result<Sample, BenchError> {
    let serve = |socket| {
        runtime()?.block_on(async {
            let (stream, _) = listener(socket)?
                .accept()
                .await
                .map_err(BenchError::io("accept"))?;
            stream
                .set_nodelay(true)
                .map_err(BenchError::io("set TCP_NODELAY"))?;
            echo(stream, 64).await;
            Ok(())
        })
    };
    echo_pair(params, serve, |address, log| {
        runtime()?.block_on(drive(address, log))
    })
}

async fn drive(address: SocketAddr, mut log: EchoLog) -> Result<EchoLog, BenchError> {
    let mut stream = TcpStream::connect(address)
        .await
        .map_err(BenchError::io("connect"))?;
    stream
        .set_nodelay(true)
        .map_err(BenchError::io("set TCP_NODELAY"))?;
    let mut reply = [0; 64];
    while log.begin() {
        stream
            .write_all(log.request())
            .await
            .map_err(BenchError::io("send"))?;
        stream
            .read_exact(&mut reply)
            .await
            .map_err(BenchError::io("receive"))?;
        log.end(&reply)?;
    }
    Ok(log)
}

fn serve(serving: Serving) -> Result<(), BenchError> {
    let bytes = serving.bytes;
    serving.each(|_, socket, _| {
        runtime()?.block_on(async {
            let listener = listener(socket)?;
            loop {
                let (stream, _) = listener.accept().await.map_err(BenchError::io("accept"))?;
                stream
                    .set_nodelay(true)
                    .map_err(BenchError::io("set TCP_NODELAY"))?;
                tokio::spawn(echo(stream, bytes));
            }
        })
    })
}
