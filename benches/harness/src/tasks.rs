//! Rounds about tasks and timers that every runtime runs with the same futures.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures_util::task::AtomicWaker;
use hdrhistogram::Histogram;

use crate::client::latency_histogram;
use crate::{BenchError, Meter, Params, Sample, clock_ns, on_two_cores};

/// How long the waking thread waits before each wake, so that the runtime has parked.
const REST_NS: u64 = 50_000;
/// How long two idle shards settle before their processor time is read.
const SETTLE: Duration = Duration::from_millis(50);
/// Settling steps that two shards may take to start.
const START_STEPS: u32 = 100;

/// Where a plain thread wakes a task of some runtime.
#[derive(Debug, Default)]
pub struct ForeignSlot {
    waker: AtomicWaker,
    waits: AtomicBool,
    rung: AtomicU64,
    seen: AtomicU64,
}

impl ForeignSlot {
    /// The task's side: answers `count` wakes, one after another.
    ///
    /// # Cancel safety
    ///
    /// Dropping it leaves the slot unanswered; the waking thread then never ends.
    pub async fn answer(&self, count: u64) {
        for number in 1..=count {
            poll_fn(|context| {
                if self.rung.load(Ordering::Acquire) >= number {
                    return Poll::Ready(());
                }
                self.waker.register(context.waker());
                self.waits.store(true, Ordering::Release);
                // Acquire pairs with the Release in `ring`; a wake between the two loads is seen
                // here.
                if self.rung.load(Ordering::Acquire) >= number {
                    return Poll::Ready(());
                }
                Poll::Pending
            })
            .await;
            self.seen.store(number, Ordering::Release);
        }
    }

    /// Sleeps until the task waits for its first wake.
    fn await_waiting(&self) -> Result<(), BenchError> {
        for _ in 0..START_STEPS {
            if self.waits.load(Ordering::Acquire) {
                return Ok(());
            }
            std::thread::sleep(SETTLE);
        }
        Err(BenchError::Stalled { done: 0, of: 1 })
    }

    fn ring(&self, number: u64) {
        self.rung.store(number, Ordering::Release);
        self.waker.wake();
    }

    fn await_seen(&self, number: u64) {
        while self.seen.load(Ordering::Acquire) < number {
            std::hint::spin_loop();
        }
    }
}

/// Wakes a task from a plain thread: median time from the wake to the task's first step.
///
/// `run` blocks its thread on a runtime that runs `slot.answer(ops)`; the thread that wakes spins
/// on the other core, which the processor time includes.
///
/// # Errors
///
/// What `run` returns, and those of [`on_two_cores`].
pub fn foreign_wakes(
    params: &Params,
    run: impl FnOnce(Arc<ForeignSlot>) -> Result<(), BenchError> + Send,
) -> Result<Sample, BenchError> {
    let ops = params.ops;
    let slot = Arc::new(ForeignSlot::default());
    let task_slot = Arc::clone(&slot);
    let wake = move || {
        let mut latency_ns = latency_histogram();
        let meter = Meter::start();
        for number in 1..=ops {
            let rest_until_ns = clock_ns() + REST_NS;
            while clock_ns() < rest_until_ns {
                std::hint::spin_loop();
            }
            let start_ns = clock_ns();
            slot.ring(number);
            slot.await_seen(number);
            latency_ns.saturating_record(clock_ns() - start_ns);
        }
        Ok((meter.stop(ops), latency_ns))
    };
    let ((), (spent, latency_ns)) = on_two_cores(params.cores, move || run(task_slot), wake)?;
    BenchError::check("wakes answered", ops, latency_ns.len())?;
    let median_ns = latency_ns.value_at_quantile(0.5) as f64;
    Ok(spent.sample(median_ns).with_latency(&latency_ns))
}

/// Processor time of two idle shards, in percent of one core.
///
/// `run` blocks until both slots have been answered once, each on a shard (or executor) of its own.
///
/// # Errors
///
/// What `run` returns, and [`BenchError::Panicked`].
pub fn idle_share(
    params: &Params,
    run: impl FnOnce([Arc<ForeignSlot>; 2]) -> Result<(), BenchError> + Send,
) -> Result<Sample, BenchError> {
    let slots = [
        Arc::new(ForeignSlot::default()),
        Arc::new(ForeignSlot::default()),
    ];
    let task_slots = slots.clone();
    std::thread::scope(|scope| {
        let runtime = scope.spawn(move || run(task_slots));
        let waiting: Result<(), _> = slots.iter().try_for_each(|slot| slot.await_waiting());
        std::thread::sleep(SETTLE);
        let meter = Meter::start();
        std::thread::sleep(Duration::from_millis(params.ops));
        let spent = meter.stop(params.ops);
        for slot in &slots {
            slot.ring(1);
        }
        runtime.join().map_err(|_| BenchError::Panicked)??;
        waiting?;
        let seen: u64 = slots
            .iter()
            .map(|slot| slot.seen.load(Ordering::Acquire))
            .sum();
        BenchError::check("idle shards that answered", 2, seen)?;
        Ok(spent.sample(spent.cpu_ns as f64 * 100.0 / spent.wall_ns as f64))
    })
}

/// How late sleeps end.
///
/// ```
/// # use corelane_bench_harness::Lateness;
/// let mut lateness = Lateness::new(3);
/// while let Some(sleep) = lateness.begin() {
///     std::thread::sleep(sleep);
///     lateness.woke();
/// }
/// assert!(lateness.finish()?.value > 0.0);
/// # Ok::<(), corelane_bench_harness::BenchError>(())
/// ```
#[derive(Debug)]
pub struct Lateness {
    meter: Meter,
    ops: u64,
    begun: u64,
    due_ns: u64,
    early: u64,
    late_ns: Histogram<u64>,
}

impl Lateness {
    /// Times `ops` sleeps.
    pub fn new(ops: u64) -> Self {
        let late_ns = latency_histogram();
        Self {
            meter: Meter::start(),
            ops,
            begun: 0,
            due_ns: 0,
            early: 0,
            late_ns,
        }
    }

    /// How long to sleep next, 0.2 to 2 ms; `None` when the round is over.
    pub fn begin(&mut self) -> Option<Duration> {
        if self.begun == self.ops {
            return None;
        }
        // Steps of a prime through the range: no two neighbours alike, the same in every round.
        let sleep_us = 200 + self.begun * 719 % 1_801;
        self.begun += 1;
        let sleep = Duration::from_micros(sleep_us);
        self.due_ns = clock_ns() + sleep_us * 1_000;
        Some(sleep)
    }

    /// The sleep begun last has ended.
    pub fn woke(&mut self) {
        let now_ns = clock_ns();
        self.early += u64::from(now_ns < self.due_ns);
        self.late_ns
            .saturating_record(now_ns.saturating_sub(self.due_ns));
    }

    /// The round's sample: the 99th percentile of the lateness.
    ///
    /// # Errors
    ///
    /// [`BenchError::Check`] when a sleep ended early or is missing.
    pub fn finish(self) -> Result<Sample, BenchError> {
        BenchError::check("sleeps that ended early", 0, self.early)?;
        BenchError::check("sleeps that ended", self.ops, self.late_ns.len())?;
        let p99_ns = self.late_ns.value_at_quantile(0.99) as f64;
        Ok(self
            .meter
            .stop(self.ops)
            .sample(p99_ns)
            .with_latency(&self.late_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parked_thread_answers_each_foreign_wake() {
        let Ok(cores) = crate::Cores::allowed() else {
            return;
        };
        let params = Params {
            ops: 50,
            shards: 1,
            cores,
        };
        let block = |slot: Arc<ForeignSlot>| {
            let answer = slot.answer(50);
            futures_util::pin_mut!(answer);
            let unpark = Arc::new(Unpark(std::thread::current()));
            let waker = unpark.into();
            let mut context = std::task::Context::from_waker(&waker);
            while answer.as_mut().poll(&mut context).is_pending() {
                std::thread::park();
            }
            Ok(())
        };
        let sample = foreign_wakes(&params, block).unwrap();
        assert!(sample.p99 >= sample.p50);
    }

    struct Unpark(std::thread::Thread);

    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    #[test]
    fn an_early_sleep_is_no_result() {
        let mut lateness = Lateness::new(1);
        assert!(lateness.begin().is_some());
        lateness.woke();
        assert!(matches!(lateness.finish(), Err(BenchError::Check { .. })));
    }
}
