//! The builder: settings on `self`, one check in the last call.

use std::future::Future;
use std::num::NonZero;
use std::time::Duration;

use super::running::{self, Running};
use super::{placement, thread};
use crate::error::StartError;
use crate::settings::{Driver, IdlePolicy, Placement, Settings};
use crate::shard::Context;
use thread_aware::topology::Topology;

/// Calls that an inbox can have room for: a bound on what threads outside may leave a shard.
const INBOX_MAX: usize = 1 << 20;
/// As far as the clock reaches.
const BUDGET_MAX: Duration = Duration::from_nanos(u64::MAX);

/// The entry to a runtime; see [`Runtime::builder`].
#[derive(Debug)]
pub struct Runtime;

impl Runtime {
    /// Settings to start from, each with its default.
    pub fn builder() -> Builder {
        Builder {
            placement: Placement::default(),
            shards: None,
            settings: Settings::default(),
        }
    }
}

/// Settings of a runtime. Nothing is checked before [`Builder::run`] or [`Builder::start`].
///
/// ```
/// use corelane::{IdlePolicy, Runtime};
///
/// let sum = Runtime::builder().shards(1).idle(IdlePolicy::Park).run(|| async { 40 + 2 })?;
/// assert_eq!(sum, 42);
/// # Ok::<_, corelane::StartError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "settings do nothing by themselves: call run or start"]
pub struct Builder {
    pub(super) placement: Placement,
    pub(super) shards: Option<usize>,
    pub(super) settings: Settings,
}

impl Builder {
    /// Where shards go. By default, one a physical core that this process may use.
    pub fn placement(mut self, placement: Placement) -> Self {
        self.placement = placement;
        self
    }

    /// How many shards, 1 to 4,096. By default, as many as the placement has processors for. More
    /// than that share processors round-robin, and none of them spins then.
    pub fn shards(mut self, shards: usize) -> Self {
        self.shards = Some(shards);
        self
    }

    /// What an idle shard does. By default it spins for 50 µs and then sleeps.
    pub fn idle(mut self, idle: IdlePolicy) -> Self {
        self.settings.idle = idle;
        self
    }

    /// Which I/O backend. By default [`Driver::Auto`], which the environment variable
    /// `CORELANE_DRIVER` (`uring` or `epoll`) decides where it is set.
    pub fn driver(mut self, driver: Driver) -> Self {
        self.settings.driver = driver;
        self
    }

    /// Slots of a lane between two shards: a power of two, 2 to 2^20; 1,024 by default. A slot
    /// takes 8 bytes, and a lane is made only for pairs that are used.
    pub fn lane_capacity(mut self, slots: u32) -> Self {
        self.settings.lane_capacity = slots;
        self
    }

    /// Calls from outside the shards that wait a shard at most: 1 to 2^20; 1,024 by default.
    pub fn inbox_capacity(mut self, calls: usize) -> Self {
        self.settings.inbox_capacity = calls;
        self
    }

    /// How long one poll may go on before the runtime's own futures make it yield; 500 µs by
    /// default. A poll that uses none of them is never cut, and the clock is looked at each 32
    /// operations: a budget of zero is over after 64.
    pub fn task_budget(mut self, budget: Duration) -> Self {
        self.settings.task_budget = budget;
        self
    }

    /// Receive buffers a shard: a power of two, 1 to 32,768; 1,024 by default, of 4,096 bytes each.
    pub fn receive_buffers(mut self, count: u16) -> Self {
        self.settings.buffers = count;
        self
    }

    /// How long the end may take: until it is over, tasks are dropped and the kernel gives back
    /// what it works on. 5 s by default; a shard that is still inside a poll is left behind then.
    /// With zero nothing is waited for but what takes no time; [`Duration::MAX`] has no end.
    pub fn shutdown_limit(mut self, limit: Duration) -> Self {
        self.settings.shutdown_limit = limit;
        self
    }

    /// Starts the shards, runs `main` on shard 0, which is the calling thread, and stops them when
    /// `main` has ended. Tasks that are left then are dropped.
    ///
    /// The calling thread is pinned meanwhile as shard 0 is, and gets its processors back after.
    ///
    /// # Errors
    ///
    /// [`StartError`]; no thread is left then.
    ///
    /// # Panics
    ///
    /// With the panic of `main`, once the shards have stopped.
    pub fn run<F, Fut>(self, main: F) -> Result<Fut::Output, StartError>
    where
        F: FnOnce() -> Fut + 'static,
        Fut: Future + 'static,
    {
        let (plan, settings) = self.check()?;
        running::run(plan, settings, main)
    }

    /// Starts the shards on threads of their own.
    ///
    /// # Errors
    ///
    /// [`StartError`]; no thread is left then. A simulation runs on the calling thread, so it has
    /// [`Builder::run`] only: [`StartError::SimulationNeedsRun`].
    pub fn start(self) -> Result<Running, StartError> {
        if matches!(self.settings.driver, Driver::Sim(_)) {
            return Err(StartError::SimulationNeedsRun);
        }
        let (plan, settings) = self.check()?;
        Running::start(plan, settings)
    }

    /// The one check of all settings.
    pub(crate) fn check(mut self) -> Result<(placement::Plan, Settings), StartError> {
        if Context::try_with(|_| ()).is_some() {
            return Err(StartError::Nested);
        }
        let lane = self.settings.lane_capacity;
        if !lane.is_power_of_two() || !(2..=1 << 20).contains(&lane) {
            return Err(StartError::LaneCapacity(lane));
        }
        let buffers = self.settings.buffers;
        if !buffers.is_power_of_two() || buffers > 1 << 15 {
            return Err(StartError::Buffers(u32::from(buffers)));
        }
        let inbox = self.settings.inbox_capacity;
        if !(1..=INBOX_MAX).contains(&inbox) {
            return Err(StartError::InboxCapacity(inbox));
        }
        self.settings.task_budget = self.settings.task_budget.min(BUDGET_MAX);
        let shards = match self.shards {
            None => None,
            Some(count) => Some(NonZero::new(count).ok_or(StartError::NoShards)?),
        };
        self.settings.driver = thread::decide(self.settings.driver)?;
        let topology = Topology::detect()?;
        let plan = placement::plan(&topology, &self.placement, shards, self.settings.idle)?;
        self.settings.idle = plan.idle;
        Ok((plan, self.settings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A budget is counted in a `u64` of nanoseconds: the low bits of a longer one say nothing.
    #[test]
    fn budget_reaches_as_far_as_the_clock_and_no_further() {
        for (budget, kept_ns) in [
            (Duration::ZERO, 0),
            (BUDGET_MAX, u64::MAX),
            (BUDGET_MAX + Duration::from_nanos(2), u64::MAX),
            (Duration::MAX, u64::MAX),
        ] {
            let builder = Runtime::builder().driver(Driver::Epoll).task_budget(budget);
            let (_, settings) = builder.check().expect("any budget is one");
            assert_eq!(settings.task_budget.as_nanos(), u128::from(kept_ns));
        }
    }
}
