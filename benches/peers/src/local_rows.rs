//! The rows about tasks, timers and wakes, on runtimes that run on the thread that starts them.
//!
//! Between two of them goes what goes between any: tokio's mpsc and oneshot channels, which need
//! nothing but wakers. None of these runtimes has a spinning form.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use corelane_bench_harness::{
    BenchError, Entry, ForeignSlot, LAP, Laps, Lateness, Meter, Params, Sample, Tally,
    foreign_wakes, idle_share, on_two_cores, one_way_sample, pin,
};
use futures_util::future::FutureExt;
use tokio::sync::{mpsc, oneshot};

/// Slots of the channel between two runtimes, as of every ring in these rows.
const CAPACITY: usize = 1_024;
/// Timers armed beside the one that is measured.
const ARMED: u64 = 100_000;

/// A runtime of the calling thread.
pub(crate) trait Local: 'static {
    /// Runs `future` on a new runtime.
    fn block_on<T>(future: impl Future<Output = T>) -> Result<T, BenchError>;

    /// The runtime's timer.
    fn sleep(duration: Duration) -> impl Future<Output = ()>;

    /// The runtime's yield, or what there is where it has none.
    async fn yield_now() {
        let mut yielded = false;
        poll_fn(|context| {
            if std::mem::replace(&mut yielded, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

/// The rows of one runtime, and of two on a core each.
pub(crate) fn entries<L: Local>(who: &str) -> Vec<Entry> {
    let entry = |row, round: fn(&Params) -> Result<Sample, BenchError>| {
        Entry::round(("runtime", row), who, round)
    };
    vec![
        entry("yield", yields::<L>),
        entry("submit_spin", submit::<L>).fewer(20),
        entry("submit_park", submit::<L>),
        entry("mesh_one_way", mesh::<L>),
        entry("foreign_wake", foreign_wake::<L>),
        entry("timer_insert_cancel", timer_insert_cancel::<L>),
        entry("timer_late_p99", timer_late::<L>),
        entry("idle_cpu", idle::<L>),
    ]
}

fn yields<L: Local>(params: &Params) -> Result<Sample, BenchError> {
    pin(params.cores.first)?;
    let ops = params.ops;
    L::block_on(async {
        let meter = Meter::start();
        for _ in 0..ops {
            L::yield_now().await;
        }
        meter.stop(ops).wall_sample()
    })
}

/// A call: its argument, and where the result goes.
type Call = (u64, oneshot::Sender<u64>);

fn submit<L: Local>(params: &Params) -> Result<Sample, BenchError> {
    let (calls, mut called) = mpsc::channel::<Call>(CAPACITY);
    let ops = params.ops;
    let stalled = |done| BenchError::Stalled { done, of: ops };
    let serve = move || {
        L::block_on(async {
            // The caller's end ends it, and a caller that is gone wants no answer.
            while let Some((number, reply)) = called.recv().await {
                if reply.send(number).is_err() {
                    return;
                }
            }
        })
    };
    let ask = move || {
        L::block_on(async {
            let mut tally = Tally::default();
            let mut laps = Laps::start(LAP);
            for number in 0..ops {
                let (reply, result) = oneshot::channel();
                let sent = calls.send((number, reply)).await;
                sent.map_err(|_| stalled(number))?;
                tally.take(result.await.map_err(|_| stalled(number))?);
                laps.done();
            }
            tally.check(ops)?;
            laps.finish(ops)
        })?
    };
    let ((), sample) = on_two_cores(params.cores, serve, ask)?;
    Ok(sample)
}

fn mesh<L: Local>(params: &Params) -> Result<Sample, BenchError> {
    let (sender, mut receiver) = mpsc::channel(CAPACITY);
    let ops = params.ops;
    let receive = move || {
        L::block_on(async {
            let mut tally = Tally::default();
            while let Some(number) = receiver.recv().await {
                tally.take(number);
            }
            (Meter::start(), tally)
        })
    };
    let send = move || {
        L::block_on(async {
            let start = Meter::start();
            for number in 0..ops {
                let sent = sender.send(number).await;
                sent.map_err(|_| BenchError::Stalled {
                    done: number,
                    of: ops,
                })?;
            }
            drop(sender); // the end of what the receiver takes
            Ok(start)
        })?
    };
    let ((end, tally), start) = on_two_cores(params.cores, receive, send)?;
    one_way_sample(start, end, &tally, ops)
}

fn foreign_wake<L: Local>(params: &Params) -> Result<Sample, BenchError> {
    let ops = params.ops;
    foreign_wakes(params, move |slot| L::block_on(slot.answer(ops)))
}

fn timer_insert_cancel<L: Local>(params: &Params) -> Result<Sample, BenchError> {
    pin(params.cores.first)?;
    let ops = params.ops;
    L::block_on(async {
        let mut armed = Vec::with_capacity(ARMED as usize);
        for index in 0..ARMED {
            let far = Duration::from_secs(60) + Duration::from_micros(37 * index);
            let mut timer = Box::pin(L::sleep(far));
            BenchError::check("timers pending", 1, pending(timer.as_mut().now_or_never()))?;
            armed.push(timer);
        }
        let meter = Meter::start();
        let mut pending_count = 0;
        for index in 0..ops {
            let timer = std::pin::pin!(L::sleep(Duration::from_millis(100 + index % 1_000)));
            pending_count += pending(timer.now_or_never());
        }
        let spent = meter.stop(ops);
        BenchError::check("timers pending", ops, pending_count)?;
        Ok(spent.wall_sample())
    })?
}

fn pending<T>(polled: Option<T>) -> u64 {
    u64::from(polled.is_none())
}

fn timer_late<L: Local>(params: &Params) -> Result<Sample, BenchError> {
    pin(params.cores.first)?;
    let ops = params.ops;
    L::block_on(async {
        let mut lateness = Lateness::new(ops);
        while let Some(sleep) = lateness.begin() {
            L::sleep(sleep).await;
            lateness.woke();
        }
        lateness.finish()
    })?
}

fn idle<L: Local>(params: &Params) -> Result<Sample, BenchError> {
    let cores = params.cores;
    idle_share(params, move |[first, second]| {
        let shard = |slot: Arc<ForeignSlot>| move || L::block_on(slot.answer(1));
        on_two_cores(cores, shard(first), shard(second)).map(drop)
    })
}
