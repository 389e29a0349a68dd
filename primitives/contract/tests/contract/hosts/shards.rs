//! Two shards of Corelane.

use std::cell::OnceCell;
use std::future::Future;
use std::time::Duration;

use corelane::{Driver, DriverError, Running, Runtime, StartError, SubmitError};

use super::Host;
use super::threads::block_on;
use crate::futures::both;

/// Shards on one driver of the kernel; the runtime lasts as long as a fact.
#[derive(Debug)]
pub(crate) struct Shards {
    driver: Driver,
    running: OnceCell<Running>,
}

impl Shards {
    pub(crate) fn on(driver: Driver) -> Self {
        Self {
            driver,
            running: OnceCell::new(),
        }
    }
}

impl Host for Shards {
    fn run(mut self, fact: fn(&Self)) {
        match Runtime::builder().shards(2).driver(self.driver).start() {
            Ok(running) => self.running = OnceCell::from(running),
            Err(StartError::Driver {
                source: refused @ DriverError::UringRefused(_),
                ..
            }) => return eprintln!("left out: {refused}"),
            Err(error) => panic!("{error}"),
        }
        fact(&self);
        let running = self.running.take().expect("it was put there");
        running.shutdown(Duration::from_secs(10)).unwrap();
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
}

/// Goes on with the panic of a call, or says what became of it.
pub(super) fn fail(error: SubmitError) -> ! {
    match error {
        SubmitError::Panicked(panic) => std::panic::resume_unwind(panic.into_payload()),
        error => panic!("{error}"),
    }
}
