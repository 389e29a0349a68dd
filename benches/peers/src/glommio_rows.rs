//! glommio: one local executor a core, with `spin_before_park` in the spinning rows.
//!
//! `Placement::Fixed` and `spin_before_park` are what its documentation names for low latency.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::FutureExt;
use futures_util::io::{AsyncReadExt, AsyncWriteExt};
use glommio::channels::shared_channel::{self, SharedReceiver, SharedSender};
use glommio::net::TcpStream;
use glommio::timer::Timer;
use glommio::{LocalExecutor, LocalExecutorBuilder, Placement};

use corelane_bench_harness::{
    BenchError, Cores, EchoLog, Entry, ForeignSlot, LAP, Laps, Lateness, Meter, Params, Sample,
    Serving, Tally, echo_pair, foreign_wakes, idle_share, on_two_cores, one_way_sample,
};

use crate::bare::glommio_listener;
use crate::version::named;

const CAPACITY: usize = 1_024;
/// Timers armed beside the one that is measured.
const ARMED: usize = 100_000;
/// Longer than any wait of a spinning row, so that its executors never park.
const SPIN: Duration = Duration::from_millis(10);
/// Room for an operation of each of 1,000 connections; with the default of 128 that row stalls.
const RING_DEPTH: usize = 2_048;

pub(crate) fn entries() -> Vec<Entry> {
    let who = named("glommio");
    vec![
        Entry::round(("runtime", "spawn_join"), &who, spawn_join),
        Entry::round(("runtime", "yield"), &who, yields),
        Entry::round(("runtime", "submit_spin"), &who, submit_spin).fewer(20),
        Entry::round(("runtime", "submit_park"), &who, submit_park),
        Entry::round(("runtime", "mesh_one_way"), &who, mesh),
        Entry::round(("runtime", "foreign_wake"), &who, foreign_wake),
        Entry::round(
            ("runtime", "timer_insert_cancel"),
            &who,
            timer_insert_cancel,
        ),
        Entry::round(("runtime", "timer_late_p99"), &who, timer_late),
        Entry::round(("runtime", "idle_cpu"), &who, idle),
        Entry::round(("tcp", "echo_64b_c1_spin"), &who, echo_c1_spin).fewer(4),
        Entry::round(("tcp", "echo_64b_c1_park"), &who, echo_c1_park),
        Entry::server("echo_64b_c64", &who, serve),
        Entry::server("echo_64b_c1000", &who, serve),
        Entry::server("echo_16k_c64", &who, serve),
        Entry::server("accept_churn", &who, serve),
    ]
}

fn executor(core: usize, spin: Option<Duration>) -> Result<LocalExecutor, BenchError> {
    let builder = LocalExecutorBuilder::new(Placement::Fixed(core)).ring_depth(RING_DEPTH);
    let builder = match spin {
        Some(spin) => builder.spin_before_park(spin),
        None => builder,
    };
    builder.make().map_err(BenchError::runtime("glommio"))
}

fn spawn_join(params: &Params) -> Result<Sample, BenchError> {
    let ops = params.ops;
    executor(params.cores.first, None)?.run(async {
        let meter = Meter::start();
        let mut tally = Tally::default();
        for number in 0..ops {
            tally.take(glommio::spawn_local(async move { number }).await);
        }
        let spent = meter.stop(ops);
        tally.check(ops)?;
        Ok(spent.wall_sample())
    })
}

fn yields(params: &Params) -> Result<Sample, BenchError> {
    let ops = params.ops;
    executor(params.cores.first, None)?.run(async {
        let meter = Meter::start();
        for _ in 0..ops {
            glommio::executor().yield_now().await;
        }
        Ok(meter.stop(ops).wall_sample())
    })
}

fn submit_spin(params: &Params) -> Result<Sample, BenchError> {
    submit(params, Some(SPIN))
}

fn submit_park(params: &Params) -> Result<Sample, BenchError> {
    submit(params, None)
}

/// A call and its reply over two shared channels, glommio's way between executors.
fn submit(params: &Params, spin: Option<Duration>) -> Result<Sample, BenchError> {
    let (calls, called) = shared_channel::new_bounded::<u64>(CAPACITY);
    let (replies, replied) = shared_channel::new_bounded::<u64>(CAPACITY);
    let (cores, ops) = (params.cores, params.ops);
    let serve = move || executor(cores.first, spin)?.run(answer(called, replies, ops));
    let ask = move || executor(cores.second, spin)?.run(ask(calls, replied, ops));
    let ((), sample) = on_two_cores(cores, serve, ask)?;
    Ok(sample)
}

async fn answer(
    called: SharedReceiver<u64>,
    replies: SharedSender<u64>,
    ops: u64,
) -> Result<(), BenchError> {
    let (called, replies) = (called.connect().await, replies.connect().await);
    for done in 0..ops {
        let stalled = || BenchError::Stalled { done, of: ops };
        let number = called.recv().await.ok_or_else(stalled)?;
        replies.send(number).await.map_err(|_| stalled())?;
    }
    Ok(())
}

async fn ask(
    calls: SharedSender<u64>,
    replied: SharedReceiver<u64>,
    ops: u64,
) -> Result<Sample, BenchError> {
    let (calls, replied) = (calls.connect().await, replied.connect().await);
    let mut tally = Tally::default();
    let mut laps = Laps::start(LAP);
    for number in 0..ops {
        let stalled = || BenchError::Stalled {
            done: number,
            of: ops,
        };
        calls.send(number).await.map_err(|_| stalled())?;
        tally.take(replied.recv().await.ok_or_else(stalled)?);
        laps.done();
    }
    tally.check(ops)?;
    laps.finish(ops)
}

fn mesh(params: &Params) -> Result<Sample, BenchError> {
    let (sender, receiver) = shared_channel::new_bounded::<u64>(CAPACITY);
    let (cores, ops) = (params.cores, params.ops);
    let receive = move || executor(cores.first, Some(SPIN))?.run(take_all(receiver, ops));
    let send = move || executor(cores.second, Some(SPIN))?.run(send_all(sender, ops));
    let ((end, tally), start) = on_two_cores(cores, receive, send)?;
    one_way_sample(start, end, &tally, ops)
}

async fn send_all(sender: SharedSender<u64>, ops: u64) -> Result<Meter, BenchError> {
    let sender = sender.connect().await;
    let start = Meter::start();
    for number in 0..ops {
        let stalled = |_| BenchError::Stalled {
            done: number,
            of: ops,
        };
        sender.send(number).await.map_err(stalled)?;
    }
    Ok(start)
}

async fn take_all(receiver: SharedReceiver<u64>, ops: u64) -> Result<(Meter, Tally), BenchError> {
    let receiver = receiver.connect().await;
    let mut tally = Tally::default();
    while tally.count() < ops {
        let stalled = || BenchError::Stalled {
            done: tally.count(),
            of: ops,
        };
        let number = receiver.recv().await.ok_or_else(stalled)?;
        tally.take(number);
    }
    Ok((Meter::start(), tally))
}

fn foreign_wake(params: &Params) -> Result<Sample, BenchError> {
    let (core, ops) = (params.cores.first, params.ops);
    foreign_wakes(params, move |slot| {
        executor(core, None)?.run(async { slot.answer(ops).await });
        Ok(())
    })
}

fn timer_insert_cancel(params: &Params) -> Result<Sample, BenchError> {
    let ops = params.ops;
    executor(params.cores.first, None)?.run(async {
        let mut armed = Vec::with_capacity(ARMED);
        for index in 0..ARMED {
            let mut timer =
                Timer::new(Duration::from_secs(60) + Duration::from_micros(37 * index as u64));
            BenchError::check("timers pending", 1, pending((&mut timer).now_or_never()))?;
            armed.push(timer);
        }
        let meter = Meter::start();
        let mut pending_count = 0;
        for index in 0..ops {
            let timer = Timer::new(Duration::from_millis(100 + index % 1_000));
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
    let ops = params.ops;
    executor(params.cores.first, None)?.run(async {
        let mut lateness = Lateness::new(ops);
        while let Some(sleep) = lateness.begin() {
            Timer::new(sleep).await;
            lateness.woke();
        }
        lateness.finish()
    })
}

fn idle(params: &Params) -> Result<Sample, BenchError> {
    let cores = params.cores;
    idle_share(params, move |[first, second]| {
        let shard = |core: usize, slot: Arc<ForeignSlot>| {
            move || {
                executor(core, None)?.run(async { slot.answer(1).await });
                Ok(())
            }
        };
        on_two_cores(
            cores,
            shard(cores.first, first),
            shard(cores.second, second),
        )
        .map(drop)
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

fn echo_c1_spin(params: &Params) -> Result<Sample, BenchError> {
    echo_c1(params, Some(SPIN))
}

fn echo_c1_park(params: &Params) -> Result<Sample, BenchError> {
    echo_c1(params, None)
}

fn echo_c1(params: &Params, spin: Option<Duration>) -> Result<Sample, BenchError> {
    let Cores { first, second } = params.cores;
    let serve = move |socket| {
        executor(first, spin)?.run(async {
            let stream = glommio_listener(socket)
                .accept()
                .await
                .map_err(BenchError::runtime("glommio"))?;
            stream
                .set_nodelay(true)
                .map_err(BenchError::runtime("glommio"))?;
            echo(stream, 64).await;
            Ok(())
        })
    };
    let ask = move |address, log| executor(second, spin)?.run(drive(address, log));
    echo_pair(params, serve, ask)
}

async fn drive(address: SocketAddr, mut log: EchoLog) -> Result<EchoLog, BenchError> {
    let mut stream = TcpStream::connect(address)
        .await
        .map_err(BenchError::runtime("glommio"))?;
    stream
        .set_nodelay(true)
        .map_err(BenchError::runtime("glommio"))?;
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
    serving.each(move |core, socket, _| {
        executor(core, None)?.run(async {
            let listener = glommio_listener(socket);
            loop {
                let stream = listener
                    .accept()
                    .await
                    .map_err(BenchError::runtime("glommio"))?;
                stream
                    .set_nodelay(true)
                    .map_err(BenchError::runtime("glommio"))?;
                glommio::spawn_local(echo(stream, bytes)).detach();
            }
        })
    })
}
