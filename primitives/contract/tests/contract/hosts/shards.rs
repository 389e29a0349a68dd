//! Two shards of Corelane.

use std::cell::OnceCell;
use std::future::Future;
use std::time::Duration;

use corelane::{Driver, DriverError, Running, Runtime, StartError, SubmitError};

use super::threads::block_on;
use super::{Host, PLACES};
use crate::futures::both;

/// Shards on one driver of the kernel; the runtime lasts as long as a fact.
#[derive(Debug)]
pub(crate) struct Shards {
    driver: Driver,
    running: OnceCell<Running>,
    /// One shard a place, made by the first fact that wants them all: more than most machines that
    /// test have processors, so two of them share one.
    crowded: OnceCell<Running>,
}

impl Shards {
    pub(crate) fn on(driver: Driver) -> Self {
        Self {
            driver,
            running: OnceCell::new(),
            crowded: OnceCell::new(),
        }
    }

    fn start(&self, shards: usize) -> Result<Running, StartError> {
        let runtime = Runtime::builder().shards(shards);
        runtime.driver(self.driver).start()
    }
}

impl Host for Shards {
    fn run(mut self, fact: fn(&Self)) {
        match self.start(2) {
            Ok(running) => self.running = OnceCell::from(running),
            Err(StartError::Driver {
                source: refused @ DriverError::UringRefused(_),
                ..
            }) => return eprintln!("left out: {refused}"),
            Err(error) => panic!("{error}"),
        }
        fact(&self);
        let running = self.running.take().expect("it was put there");
        for running in [Some(running), self.crowded.take()].into_iter().flatten() {
            running.shutdown(Duration::from_secs(10)).unwrap();
        }
    }

    fn pair<L, LF, R, RF>(&self, left: L, right: R) -> (LF::Output, RF::Output)
    where
        L: FnOnce() -> LF + Send + 'static,
        LF: Future + 'static,
        LF::Output: Send + 'static,
        R: FnOnce() -> RF + Send + 'static,
        RF: Future + 'static,
        RF::Output: Send + 'static,
    {
        let running = self.running.get().expect("a fact runs on it");
        let left = running.shard(0).submit(left);
        let right = running.shard(1).submit(right);
        match block_on(both(left, right)) {
            (Ok(left), Ok(right)) => (left, right),
            (Err(error), _) | (_, Err(error)) => fail(error),
        }
    }

    fn each<W, F>(&self, works: Vec<W>) -> Vec<F::Output>
    where
        W: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
        F::Output: Send + 'static,
    {
        let crowded = self.crowded.get_or_init(|| self.start(PLACES).unwrap());
        let calls = works.into_iter().enumerate();
        let calls: Vec<_> = calls
            .map(|(place, work)| crowded.shard(place).submit(work))
            .collect();
        let outputs = calls.into_iter().map(block_on);
        outputs
            .map(|output| output.unwrap_or_else(|error| fail(error)))
            .collect()
    }
}

/// Goes on with the panic of a call, or says what became of it.
pub(super) fn fail(error: SubmitError) -> ! {
    match error {
        SubmitError::Panicked(panic) => std::panic::resume_unwind(panic.into_payload()),
        error => panic!("{error}"),
    }
}
