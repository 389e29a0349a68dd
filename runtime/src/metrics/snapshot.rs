//! Counters as numbers that a program can keep.

use std::time::Duration;

use crate::directory::{Directory, DriverInfo, Member};
use crate::shard::Context;
use crate::time::Instant;

/// What all shards of a runtime had counted at about the same moment.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Snapshot {
    /// One a shard, in the order of their indices.
    pub shards: Vec<ShardSnapshot>,
}

/// What one shard has counted since it began. All counts wrap at 2^64.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ShardSnapshot {
    /// The shard's place in its runtime.
    pub shard: usize,
    /// Which I/O backend the shard runs on, and why that one.
    pub driver: DriverInfo,
    /// Time since the shard began: the sum of `busy`, `idle` and `parked`.
    pub uptime: Duration,
    /// Time at work: polls of tasks, timers, lanes, and the driver's turns.
    pub busy: Duration,
    /// Time awake with nothing to do: what the idle policy spins.
    pub idle: Duration,
    /// Time asleep in the driver. It takes no processor time.
    pub parked: Duration,
    /// Tasks that have not ended: `tasks_spawned` less `tasks_ended`.
    pub tasks_live: u64,
    /// Tasks that were started, calls from other shards among them.
    pub tasks_spawned: u64,
    /// Tasks that ended: with their output, by an abort, or by a panic.
    pub tasks_ended: u64,
    /// Tasks that ended by a panic. The panic of a submitted call is the caller's and not counted.
    pub tasks_panicked: u64,
    /// Polls of tasks, added after each slice of them.
    pub polls: u64,
    /// Turns of the shard's loop. They stand still while the shard sleeps.
    pub turns: u64,
    /// Times the shard went to sleep in its driver.
    pub parks: u64,
    /// Wakes and messages for other shards that had to ring, since the other one slept.
    pub rings_sent: u64,
    /// Wakes and messages for other shards that rang nothing, since the other one was awake.
    pub rings_suppressed: u64,
    /// Wakes of the shard's tasks by other shards and threads. Several wakes of one task between
    /// two turns are one.
    pub foreign_wakes: u64,
    /// Calls that came over lanes.
    pub lane_items: u64,
    /// The most calls that were found waiting in one lane.
    pub lane_peak: u64,
    /// Data of calls (`submit_with` and its like) that was relocated here on its arrival.
    pub relocations: u64,
    /// Calls of `try_submit` that found the lane full.
    pub lane_refusals: u64,
    /// System calls into the driver (`io_uring_enter` or `epoll_wait`).
    pub driver_enters: u64,
    /// Operations that were given to the driver (submissions or registrations).
    pub driver_operations: u64,
    /// Completions or readiness events that the driver delivered.
    pub driver_completions: u64,
    /// Receives and sends that were done at once, without the driver.
    pub inline_io: u64,
    /// Times the shard's receive buffers ran out.
    pub buffers_exhausted: u64,
    /// Operations that the kernel had not ended when the driver closed: what they use was leaked.
    pub leaked_operations: u64,
    /// Times an accept waited because descriptors or memory had run out.
    pub accept_backoffs: u64,
    /// Timers that were armed.
    pub timers_armed: u64,
    /// Timers that fired.
    pub timers_fired: u64,
}

/// Reads the counters of all shards of the runtime that this code runs in.
///
/// Costs some thirty loads a shard and one allocation; the shards themselves notice nothing.
///
/// # Panics
///
/// Outside of the shards; see [`Running::metrics`](crate::Running::metrics) there.
///
/// ```
/// # corelane::Runtime::builder().shards(1).run(|| async {
/// let before = corelane::metrics::snapshot();
/// corelane::spawn(async {}).await?;
/// let after = corelane::metrics::snapshot();
/// assert_eq!(after.shards[0].tasks_spawned, before.shards[0].tasks_spawned + 1);
/// println!("{} runs: {}", after.shards[0].driver.name(), after.shards[0].driver.reason());
/// # Ok::<_, corelane::JoinError>(())
/// # })?.expect("the task does not panic");
/// # Ok::<_, corelane::StartError>(())
/// ```
#[must_use]
pub fn snapshot() -> Snapshot {
    Context::with(|context| Snapshot::of(context.directory()))
}

impl Snapshot {
    pub(crate) fn of(directory: &Directory) -> Self {
        let members = directory.members.iter().enumerate();
        Self {
            shards: members
                .map(|(shard, member)| ShardSnapshot::of(shard, member))
                .collect(),
        }
    }
}

impl ShardSnapshot {
    fn of(shard: usize, member: &Member) -> Self {
        let counters = &member.counters;
        let (parked, idle) = (
            counters.parked.value(|| Instant::now().as_nanos()),
            counters.idle_ns.value(),
        );
        // Read after both, so that they are never more than the whole.
        let uptime = Instant::now()
            .as_nanos()
            .saturating_sub(counters.started_ns.value());
        // Ended first: what is spawned meanwhile is live rather than less than none.
        let ended = counters.ended.value();
        let spawned = counters.spawned.value();
        Self {
            shard,
            driver: member
                .driver
                .get()
                .cloned()
                .expect("every shard opens its driver before any of them runs"),
            uptime: Duration::from_nanos(uptime),
            busy: Duration::from_nanos(uptime.saturating_sub(idle.saturating_add(parked))),
            idle: Duration::from_nanos(idle),
            parked: Duration::from_nanos(parked),
            tasks_live: spawned.saturating_sub(ended),
            tasks_spawned: spawned,
            tasks_ended: ended,
            tasks_panicked: counters.panicked.value(),
            polls: counters.polls.value(),
            turns: counters.turns.value(),
            parks: counters.parks.value(),
            rings_sent: counters.rings_sent.value(),
            rings_suppressed: counters.rings_suppressed.value(),
            foreign_wakes: counters.foreign_wakes.value(),
            lane_items: counters.lane_items.value(),
            lane_peak: counters.lane_peak.value(),
            relocations: counters.relocations.value(),
            lane_refusals: counters.lane_refusals.value(),
            driver_enters: counters.enters.value(),
            driver_operations: counters.operations.value(),
            driver_completions: counters.completions.value(),
            inline_io: counters.inline_io.value(),
            buffers_exhausted: counters.buffers_exhausted.value(),
            leaked_operations: counters.leaked_operations.value(),
            accept_backoffs: counters.accept_backoffs.value(),
            timers_armed: counters.timers_armed.value(),
            timers_fired: counters.timers_fired.value(),
        }
    }

    /// The part of its time that the shard was at work, from 0 to 1.
    #[must_use]
    pub fn busy_share(&self) -> f64 {
        self.share(self.busy)
    }

    /// The part of its time that the shard was awake with nothing to do, from 0 to 1.
    #[must_use]
    pub fn idle_share(&self) -> f64 {
        self.share(self.idle)
    }

    /// The part of its time that the shard slept, from 0 to 1.
    #[must_use]
    pub fn parked_share(&self) -> f64 {
        self.share(self.parked)
    }

    fn share(&self, part: Duration) -> f64 {
        if self.uptime.is_zero() {
            return 0.0;
        }
        part.div_duration_f64(self.uptime).min(1.0)
    }
}
