//! datum-core through its public interface: a signal, a subscription and topics with live feeds.
//!
//! A feed is a stream that runs on a thread of datum-core's pool.

use std::ops::Deref;
use std::sync::{Mutex, OnceLock, PoisonError};

use corelane_bench_harness::{BenchError, Crowd, Ear, Latest, LatestArc};
use datum::{Materializer, Sink, SubscriptionOverflow, TopicOverflow};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::host::TokioOne;

/// The cores of this process, as they were before any round pinned its thread.
static CORES: OnceLock<Option<CpuSet>> = OnceLock::new();

/// Reads the cores that the process may use; called before the first round.
pub(super) fn remember_cores() {
    CORES.get_or_init(|| sched_getaffinity(None).ok());
}

/// Lets the calling thread, and those that it makes, run on every core.
pub(super) fn use_every_core() -> Result<(), BenchError> {
    let cores = CORES.get().and_then(Option::as_ref);
    let cores = cores.ok_or(BenchError::Cores(1))?;
    sched_setaffinity(None, cores).map_err(BenchError::errno("use every core"))
}

/// What runs datum-core's streams.
pub(super) fn materializer() -> &'static Materializer {
    static MATERIALIZER: OnceLock<Materializer> = OnceLock::new();
    MATERIALIZER.get_or_init(Materializer::new)
}

/// Wraps an error of datum-core.
pub(super) fn failed(error: impl std::fmt::Display) -> BenchError {
    BenchError::runtime("datum-core")(error)
}

/// Runs a stream for each ear, until the last of them wants no more.
fn listen<E: Ear, M: Send + 'static>(
    ears: Vec<E>,
    stream: impl Fn() -> datum::Source<u64, M>,
    begin: impl FnOnce(),
) -> Result<(), BenchError> {
    use_every_core()?;
    let mut runs = Vec::with_capacity(ears.len());
    for mut ear in ears {
        // Before the stream has it; nobody writes before the caller begins.
        ear.ready();
        let ear = Mutex::new(ear);
        let heard = stream().take_while(move |value| {
            let mut ear = ear.lock().unwrap_or_else(PoisonError::into_inner);
            ear.take(*value)
        });
        let run = heard.run_with_materializer(Sink::ignore(), materializer());
        runs.push(run.map_err(failed)?);
    }
    begin();
    for run in runs {
        run.wait().map_err(failed)?;
    }
    Ok(())
}

/// What this module's wrappers of a source have in common as crowds.
macro_rules! crowd {
    ($name:ident: $open:expr, |$source:ident, $value:ident| $send:expr, $stream:ident) => {
        impl Crowd for $name {
            type Host = TokioOne;

            fn open(capacity: usize) -> Self {
                let open: fn(usize) -> _ = $open;
                Self(open(capacity).expect("its actor starts"))
            }

            async fn send(&self, $value: u64) -> bool {
                let $source = &self.0;
                $send
            }

            fn listen<E: Ear>(
                &self,
                _every: usize,
                ears: Vec<E>,
                begin: impl FnOnce() + 'static,
            ) -> Result<(), BenchError> {
                listen(ears, || self.0.$stream(), begin)
            }

            fn close(&self) {
                // Closed already is as good.
                self.0.close().unwrap_or_default();
            }
        }
    };
}

/// The latest value.
#[derive(Clone)]
pub(crate) struct Signal(datum::Signal<u64>);

crowd!(
    Signal: |_has_no_queue| datum::Signal::new(0),
    |signal, value| signal.set(value).is_ok(),
    changes
);

impl Latest for Signal {
    fn with(value: u64) -> Self {
        Self(datum::Signal::new(value).expect("its actor starts"))
    }

    #[inline]
    fn get(&self) -> u64 {
        self.0.get_cloned()
    }

    #[inline]
    fn set(&self, value: u64) -> bool {
        self.0.set_eventually(value).is_ok()
    }

    fn close(&self) {
        Crowd::close(self);
    }
}

impl LatestArc for Signal {
    type Reader = Self;

    fn reader(self) -> Self {
        self
    }

    #[inline]
    fn get_arc(reader: &mut Self) -> impl Deref<Target = u64> {
        reader.0.get()
    }
}

/// Every change.
#[derive(Clone)]
pub(crate) struct Subscription(datum::Subscription<u64>);

crowd!(
    Subscription: |capacity| {
        datum::Subscription::new(0, capacity, SubscriptionOverflow::Backpressure)
    },
    |subscription, value| subscription.set(value).is_ok(),
    changes
);

/// Every message.
#[derive(Clone)]
pub(crate) struct Topic(datum::Topic<u64>);

crowd!(
    Topic: |capacity| datum::Topic::new(capacity, TopicOverflow::Backpressure),
    |topic, value| topic.publish(value).await.is_ok(),
    subscribe
);
