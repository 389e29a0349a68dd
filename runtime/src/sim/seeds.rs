//! One test over many seeds.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::SimReport;
use crate::driver::Driver;
use crate::driver::sim::Event;
use crate::shard::Context;
use crate::start::Builder;

/// The environment variable that replays one seed.
const SEED_VARIABLE: &str = "CORELANE_SIM_SEED";

/// Runs `test` once for each of the seeds 0 to `seeds - 1`, or for the one seed that the
/// environment variable `CORELANE_SIM_SEED` names, and returns what the last one gave.
///
/// The first seed runs twice: a test whose two runs differ depends on something that is not
/// simulated, and its failures would not replay. `#[corelane::test(sim)]` expands to this.
///
/// # Panics
///
/// With the first panic of `test`, after a line on standard error that names the seed; when the
/// first seed's runs differ; when the runtime cannot start; when there is no seed.
///
/// ```
/// use corelane::{Runtime, sim};
///
/// sim::for_seeds(&Runtime::builder().shards(2), 3, async || {
///     let there = corelane::shards()[1].clone();
///     assert_eq!(there.submit(|| async { 6 * 7 }).await.ok(), Some(42));
/// });
/// ```
pub fn for_seeds<F, Fut>(builder: &Builder, seeds: u64, test: F) -> Fut::Output
where
    F: Fn() -> Fut + Clone + 'static,
    Fut: Future + 'static,
{
    assert!(seeds > 0, "a test over no seed shows nothing");
    let (first, end) = chosen().map_or((0, seeds), |seed| (seed, seed.saturating_add(1)));
    let (mut output, report) = run(builder, first, test.clone());
    let (_, again) = run(builder, first, test.clone());
    assert_eq!(
        report, again,
        "two runs of seed {first} differ: the test is not reproducible"
    );
    for seed in first + 1..end {
        output = run(builder, seed, test.clone()).0;
    }
    output
}

/// Adds `word` to the trace of the simulation that this task runs in, so that runs that differ in
/// it have different hashes. Outside a simulation it does nothing, so that one test suits every
/// driver.
pub fn note(word: u64) {
    Context::try_with(|context| {
        if let Driver::Sim(driver) = context.driver() {
            driver.world().record(Event::Note(word));
        }
    });
}

fn run<F, Fut>(builder: &Builder, seed: u64, test: F) -> (Fut::Output, SimReport)
where
    F: FnOnce() -> Fut + 'static,
    Fut: Future + 'static,
{
    let simulated = catch_unwind(AssertUnwindSafe(|| builder.clone().simulate(seed, test)));
    match simulated {
        Ok(Ok(ended)) => ended,
        Ok(Err(error)) => panic!("the simulation did not start: {error}"),
        Err(panic) => {
            eprintln!("the simulation failed with seed {seed}; {SEED_VARIABLE}={seed} replays it");
            resume_unwind(panic);
        }
    }
}

fn chosen() -> Option<u64> {
    let seed = std::env::var(SEED_VARIABLE).ok()?;
    let parsed = seed.parse();
    Some(parsed.unwrap_or_else(|_| panic!("{SEED_VARIABLE} is {seed:?}, not a number")))
}
