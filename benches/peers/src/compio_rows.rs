//! compio: one io_uring runtime a core with SINGLE_ISSUER, COOP_TASKRUN and DEFER_TASKRUN; it has
//! no spinning form.

use std::net::{SocketAddr, TcpListener as StdListener};
use std::time::Duration;

use compio::BufResult;
use compio::driver::ProactorBuilder;
use compio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use compio::net::{TcpListener, TcpStream};
use compio::runtime::{Runtime, RuntimeBuilder};

use corelane_bench_harness::{
    BenchError, EchoLog, Entry, Meter, Params, Sample, Serving, Tally, echo_pair, pin,
};

use crate::local_rows::{self, Local};
use crate::version::named;

pub(crate) fn entries() -> Vec<Entry> {
    let who = named("compio");
    let mut entries = vec![
        Entry::round(("runtime", "spawn_join"), &who, spawn_join),
        Entry::round(("tcp", "echo_64b_c1_spin"), &who, echo_c1).fewer(4),
        Entry::round(("tcp", "echo_64b_c1_park"), &who, echo_c1),
        Entry::server("echo_64b_c64", &who, serve),
        Entry::server("echo_64b_c1000", &who, serve),
        Entry::server("echo_16k_c64", &who, serve),
        Entry::server("accept_churn", &who, serve),
    ];
    entries.extend(local_rows::entries::<Compio>(&who));
    entries
}

struct Compio;

impl Local for Compio {
    fn block_on<T>(future: impl Future<Output = T>) -> Result<T, BenchError> {
        Ok(runtime()?.block_on(future))
    }

    async fn sleep(duration: Duration) {
        compio::time::sleep(duration).await;
    }
}

fn runtime() -> Result<Runtime, BenchError> {
    let mut proactor = ProactorBuilder::new();
    proactor
        .single_issuer(true)
        .coop_taskrun(true)
        .taskrun_flag(true)
        .defer_taskrun(true);
    RuntimeBuilder::new()
        .with_proactor(proactor)
        .build()
        .map_err(BenchError::io("start compio"))
}

fn spawn_join(params: &Params) -> Result<Sample, BenchError> {
    pin(params.cores.first)?;
    let ops = params.ops;
    runtime()?.block_on(async {
        let meter = Meter::start();
        let mut tally = Tally::default();
        for number in 0..ops {
            let joined = compio::runtime::spawn(async move { number }).await;
            tally.take(joined.map_err(|_| BenchError::Panicked)?);
        }
        let spent = meter.stop(ops);
        tally.check(ops)?;
        Ok(spent.wall_sample())
    })
}

async fn echo(mut stream: TcpStream, bytes: usize) {
    let mut buffer = Vec::with_capacity(bytes);
    loop {
        let BufResult(received, filled) = stream.read(buffer).await;
        // A reset ends the connection like an end of stream: the client checks what it received.
        if !matches!(received, Ok(1..)) {
            return;
        }
        let BufResult(sent, mut emptied) = stream.write_all(filled).await;
        if sent.is_err() {
            return;
        }
        emptied.clear();
        buffer = emptied;
    }
}

fn listener(socket: StdListener) -> Result<TcpListener, BenchError> {
    TcpListener::from_std(socket).map_err(BenchError::io("hand a listener to compio"))
}

async fn accept(listener: &TcpListener) -> Result<TcpStream, BenchError> {
    let (stream, _) = listener.accept().await.map_err(BenchError::io("accept"))?;
    stream
        .set_nodelay(true)
        .map_err(BenchError::io("set TCP_NODELAY"))?;
    Ok(stream)
}

fn echo_c1(params: &Params) -> Result<Sample, BenchError> {
    let serve = |socket| {
        runtime()?.block_on(async {
            echo(accept(&listener(socket)?).await?, 64).await;
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
    let mut request = Vec::with_capacity(64);
    let mut reply = Vec::with_capacity(64);
    while log.begin() {
        request.clear();
        request.extend_from_slice(log.request());
        let BufResult(sent, buffer) = stream.write_all(request).await;
        sent.map_err(BenchError::io("send"))?;
        request = buffer;
        reply.clear();
        let BufResult(received, buffer) = stream.read_exact(reply).await;
        received.map_err(BenchError::io("receive"))?;
        reply = buffer;
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
                let stream = accept(&listener).await?;
                compio::runtime::spawn(echo(stream, bytes)).detach();
            }
        })
    })
}
