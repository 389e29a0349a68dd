//! Simulation: all shards of a runtime on one thread, from a seed.
//!
//! A simulation has a clock of its own, which stands still while a shard has something to do but
//! for a microsecond a turn, and jumps to the next timer or packet when none has. Which of the
//! shards with work runs next, how long a packet takes and where a stream is cut is drawn from the
//! seed. So a seed names one run: the same program with the same seed does the same things in the
//! same order, and [`SimReport::trace_hash`] says whether it did.
//!
//! What the runtime cannot know of makes a run differ: the real clock, threads, files, addresses in
//! memory, `HashMap`s with random keys.
//!
//! ```
//! use std::time::Duration;
//! use corelane::{Driver, Runtime, time};
//!
//! // A minute passes in no time.
//! let minute = || time::sleep(Duration::from_secs(60));
//! let (_, report) = Runtime::builder().shards(2).simulate(7, minute)?;
//! assert!(report.elapsed() >= Duration::from_secs(60));
//! # Ok::<_, corelane::StartError>(())
//! ```

mod report;
mod seeds;
mod shards;

pub use report::SimReport;
pub use seeds::{for_seeds, note};

use std::future::Future;

use crate::error::StartError;
use crate::settings::Driver;
use crate::start::Builder;

pub(crate) use shards::run;

impl Builder {
    /// Runs `main` on shard 0 of a simulation from `seed`, and says what the run was.
    ///
    /// [`Builder::run`] with [`Driver::Sim`] does the same and keeps the report to itself.
    ///
    /// # Errors
    ///
    /// [`StartError`], as [`Builder::run`].
    ///
    /// # Panics
    ///
    /// With the panic of `main`; when every shard waits for ever; and when the run takes more than
    /// 10,000,000 turns, which is taken for a loop without an end.
    pub fn simulate<F, Fut>(
        self,
        seed: u64,
        main: F,
    ) -> Result<(Fut::Output, SimReport), StartError>
    where
        F: FnOnce() -> Fut + 'static,
        Fut: Future + 'static,
    {
        let (plan, settings) = self.driver(Driver::Sim(seed)).check()?;
        run(&plan, settings, seed, main)
    }
}
