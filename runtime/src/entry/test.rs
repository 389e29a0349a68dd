//! A test on each driver in turn.

use std::fmt::Debug;
use std::future::Future;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Once;

use thread_aware::topology::Topology;

use super::in_one_line;
use crate::error::{DriverError, StartError};
use crate::settings::{Driver, Placement};
use crate::start::{Builder, Runtime, decide};

const SHARDS_DEFAULT: usize = 2;
const SEEDS_DEFAULT: u64 = 16;

/// What a test's body may return.
#[diagnostic::on_unimplemented(
    message = "a test returns nothing or a `Result<(), E>` with `E: Debug`, not `{Self}`",
    label = "not what a test returns"
)]
pub trait Outcome {
    /// Panics when the test has failed.
    fn check(self);
}

impl Outcome for () {
    fn check(self) {}
}

impl<E: Debug> Outcome for Result<(), E> {
    fn check(self) {
        if let Err(error) = self {
            panic!("the test returned an error: {error:?}");
        }
    }
}

/// Where a test runs.
#[derive(Debug, Clone)]
#[must_use = "a plan does nothing by itself"]
pub struct TestPlan {
    shards: usize,
    with: fn(Builder) -> Builder,
    kernel: Vec<Kernel>,
    sim: bool,
    seeds: u64,
}

/// A driver of the kernel's I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kernel {
    Uring,
    Epoll,
}

impl Kernel {
    fn name(self) -> &'static str {
        match self {
            Self::Uring => "uring",
            Self::Epoll => "epoll",
        }
    }

    fn driver(self) -> Driver {
        match self {
            Self::Uring => Driver::Uring,
            Self::Epoll => Driver::Epoll,
        }
    }
}

impl Default for TestPlan {
    fn default() -> Self {
        Self::new()
    }
}

impl TestPlan {
    /// Two shards, on both drivers of the kernel unless some are named.
    pub fn new() -> Self {
        Self {
            shards: SHARDS_DEFAULT,
            with: |builder| builder,
            kernel: Vec::new(),
            sim: false,
            seeds: SEEDS_DEFAULT,
        }
    }

    /// How many shards.
    pub fn shards(mut self, shards: usize) -> Self {
        self.shards = shards;
        self
    }

    /// Further settings.
    pub fn with(mut self, with: fn(Builder) -> Builder) -> Self {
        self.with = with;
        self
    }

    /// Names io_uring.
    pub fn uring(mut self) -> Self {
        self.kernel.push(Kernel::Uring);
        self
    }

    /// Names epoll.
    pub fn epoll(mut self) -> Self {
        self.kernel.push(Kernel::Epoll);
        self
    }

    /// Names the simulation.
    pub fn sim(mut self) -> Self {
        self.sim = true;
        self
    }

    /// How many seeds the simulation runs.
    pub fn seeds(mut self, seeds: u64) -> Self {
        self.seeds = seeds;
        self
    }

    /// Runs `test` on each driver, the next one when the one before has passed.
    ///
    /// # Panics
    ///
    /// With the test's panic, after a line that names the driver or the seed; when the test returns
    /// an error; when a runtime does not start.
    pub fn run<F, Fut>(self, test: F)
    where
        F: Fn() -> Fut + Clone + 'static,
        Fut: Future + 'static,
        Fut::Output: Outcome,
    {
        let kernel = (self.with)(builder(self.shards));
        // Pinned nowhere, so that a seed's run is the same on every machine.
        let unpinned = Runtime::builder().placement(Placement::Unpinned(self.shards));
        let checked = move || {
            let test = test.clone();
            async move { test().await.check() }
        };
        for driver in self.kernel_drivers() {
            run_on(driver, &kernel, checked.clone());
        }
        if self.sim {
            crate::sim::for_seeds(&(self.with)(unpinned), self.seeds, checked);
        }
    }

    /// The drivers of the kernel to run on, with the environment's word on it.
    fn kernel_drivers(&self) -> Vec<Kernel> {
        let planned = match &self.kernel[..] {
            [] if self.sim => Vec::new(),
            [] => vec![Kernel::Uring, Kernel::Epoll],
            named => named.to_vec(),
        };
        let chosen = chosen();
        let kept: Vec<_> = planned
            .iter()
            .copied()
            .filter(|&kernel| chosen.is_none_or(|chosen| chosen == kernel))
            .collect();
        if let (Some(chosen), [], [left_out, ..]) = (chosen, &kept[..], &planned[..]) {
            tell(&format!(
                "corelane: {} needs {}, which CORELANE_DRIVER={} leaves out",
                std::thread::current().name().unwrap_or("a test"),
                left_out.name(),
                chosen.name(),
            ));
        }
        kept
    }
}

/// The driver that the environment restricts tests to.
fn chosen() -> Option<Kernel> {
    match decide(Driver::Auto) {
        Ok(Driver::Uring) => Some(Kernel::Uring),
        Ok(Driver::Epoll) => Some(Kernel::Epoll),
        Ok(_) => None,
        Err(error) => panic!("{error}"),
    }
}

/// Shards on cores of their own where there are enough, else pinned nowhere.
fn builder(shards: usize) -> Builder {
    let cores = Topology::detect().map_or(0, |topology| topology.shard_limit().get());
    let placement = if shards <= cores {
        Placement::PhysicalCores
    } else {
        Placement::Unpinned(shards)
    };
    Runtime::builder().placement(placement).shards(shards)
}

fn run_on<F, Fut>(kernel: Kernel, builder: &Builder, test: F)
where
    F: Fn() -> Fut + 'static,
    Fut: Future<Output = ()> + 'static,
{
    let name = kernel.name();
    let builder = builder.clone().driver(kernel.driver());
    match catch_unwind(AssertUnwindSafe(|| builder.run(test))) {
        Ok(Ok(())) => {}
        Ok(Err(StartError::Driver {
            source: refused @ DriverError::UringRefused(_),
            ..
        })) if chosen() != Some(Kernel::Uring) => tell_refused(&refused),
        Ok(Err(error)) => panic!("no runtime on {name}: {}", in_one_line(&error)),
        Err(panic) => {
            eprintln!("the test failed on {name}; CORELANE_DRIVER={name} runs it on that alone");
            resume_unwind(panic);
        }
    }
}

/// Says once a process that tests go without io_uring.
fn tell_refused(refused: &DriverError) {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| {
        let why = in_one_line(refused);
        tell(&format!("corelane: tests go without uring here: {why}"));
    });
}

/// Writes a line to standard error itself, since the test harness keeps what a passed test prints.
fn tell(line: &str) {
    let line = format!("{line}\n");
    std::io::stderr()
        .write_all(line.as_bytes())
        .expect("standard error takes a line");
}
