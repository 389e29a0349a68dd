//! tokio: one current-thread runtime a core, tasks local where the row allows it.
//!
//! A current-thread runtime a core is what tokio offers to this shape; it has no spinning form.

use std::net::{SocketAddr, TcpListener as StdListener};
use std::time::Duration;

use futures_util::future::FutureExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, oneshot};
use tokio::task::LocalSet;

use corelane_bench_harness::{
    BenchError, EchoLog, Entry, Lateness, Meter, Params, Sample, Serving, Tally, echo_pair,
    foreign_wakes, idle_share, on_two_cores, one_way, pin, round_trip,
};

use crate::version::named;

const CAPACITY: usize = 1_024;
/// Timers armed beside the one that is measured.
const ARMED: usize = 100_000;

pub(crate) fn entries() -> Vec<Entry> {
    let who = named("tokio");
    let local = format!("{who}-LocalSet");
    vec![
        Entry::round(("runtime", "spawn_join"), &who, spawn_join),
        Entry::round(("runtime", "spawn_join"), &local, spawn_join_local),
        Entry::round(("runtime", "yield"), &who, yields),
        Entry::round(("runtime", "submit_spin"), &who, submit).fewer(20),
        Entry::round(("runtime", "submit_park"), &who, submit),
        Entry::round(("runtime", "mesh_one_way"), &who, mesh),
        Entry::round(("runtime", "foreign_wake"), &who, foreign_wake),
        Entry::round(
            ("runtime", "timer_insert_cancel"),
            &who,
            timer_insert_cancel,
        ),
        Entry::round(("runtime", "timer_late_p99"), &who, timer_late),
        Entry::round(("runtime", "idle_cpu"), &who, idle),
        Entry::round(("tcp", "echo_64b_c1_spin"), &who, echo_c1).fewer(4),
        Entry::round(("tcp", "echo_64b_c1_park"), &who, echo_c1),
        Entry::server("echo_64b_c64", &who, serve),
        Entry::server("echo_64b_c1000", &who, serve),
        Entry::server("echo_16k_c64", &who, serve),
        Entry::server("accept_churn", &who, serve),
    ]
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

fn yields(params: &Params) -> Result<Sample, BenchError> {
    pin(params.cores.first)?;
    let ops = params.ops;
    runtime()?.block_on(async {
        let meter = Meter::start();
        for _ in 0..ops {
            tokio::task::yield_now().await;
        }
        Ok(meter.stop(ops).wall_sample())
    })
}

/// A call: its argument, and where the result goes.
type Call = (u64, oneshot::Sender<u64>);

fn submit(params: &Params) -> Result<Sample, BenchError> {
    let (calls, mut called) = mpsc::channel::<Call>(CAPACITY);
    let (client, server) = (runtime()?, runtime()?);
    round_trip(
        params,
        move |number| {
            let (reply, result) = oneshot::channel();
            client.block_on(async {
                // A closed channel gives a number that the check refuses.
                if calls.send((number, reply)).await.is_err() {
                    return u64::MAX;
                }
                result.await.unwrap_or(u64::MAX)
            })
        },
        move |count| {
            server.block_on(async {
                for _ in 0..count {
                    let Some((number, reply)) = called.recv().await else {
                        return;
                    };
                    if reply.send(number).is_err() {
                        return;
                    }
                }
            });
        },
    )
}

fn mesh(params: &Params) -> Result<Sample, BenchError> {
    let (sender, mut receiver) = mpsc::channel(CAPACITY);
    let (client, server) = (runtime()?, runtime()?);
    one_way(
        params,
        move |count| {
            client.block_on(async {
                for number in 0..count {
                    if sender.send(number).await.is_err() {
                        return;
                    }
                }
            });
        },
        move |count, tally: &mut Tally| {
            server.block_on(async {
                while tally.count() < count {
                    let Some(number) = receiver.recv().await else {
                        return;
                    };
                    tally.take(number);
                }
            });
        },
    )
}

fn foreign_wake(params: &Params) -> Result<Sample, BenchError> {
    let ops = params.ops;
    foreign_wakes(params, move |slot| {
        runtime()?.block_on(slot.answer(ops));
        Ok(())
    })
}

fn timer_insert_cancel(params: &Params) -> Result<Sample, BenchError> {
    pin(params.cores.first)?;
    let ops = params.ops;
    runtime()?.block_on(async {
        let mut armed = Vec::with_capacity(ARMED);
        for index in 0..ARMED {
            let far = Duration::from_secs(60) + Duration::from_micros(37 * index as u64);
            let mut timer = Box::pin(tokio::time::sleep(far));
            BenchError::check("timers pending", 1, pending(timer.as_mut().now_or_never()))?;
            armed.push(timer);
        }
        let meter = Meter::start();
        let mut pending_count = 0;
        for index in 0..ops {
            let due = Duration::from_millis(100 + index % 1_000);
            let timer = std::pin::pin!(tokio::time::sleep(due));
            pending_count += pending(timer.now_or_never());
        }
        let spent = meter.stop(ops);
        BenchError::check("timers pending", ops, pending_count)?;
        Ok(spent.wall_sample())
    })
}

fn pending<T>(polled: Option<T>) -> u64 {
    u64::from(polled.is_none())
}

fn timer_late(params: &Params) -> Result<Sample, BenchError> {
    pin(params.cores.first)?;
    let ops = params.ops;
    runtime()?.block_on(async {
        let mut lateness = Lateness::new(ops);
        while let Some(sleep) = lateness.begin() {
            tokio::time::sleep(sleep).await;
            lateness.woke();
        }
        lateness.finish()
    })
}

fn idle(params: &Params) -> Result<Sample, BenchError> {
    let cores = params.cores;
    idle_share(params, move |[first, second]| {
        let shard = |slot: std::sync::Arc<corelane_bench_harness::ForeignSlot>| {
            move || {
                runtime()?.block_on(slot.answer(1));
                Ok(())
            }
        };
        on_two_cores(cores, shard(first), shard(second)).map(drop)
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
