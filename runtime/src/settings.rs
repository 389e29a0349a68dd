//! What a runtime is built from, checked once.

use std::time::Duration;

/// What a shard does when it has nothing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum IdlePolicy {
    /// Sleeps at once: no processor time, and a wake costs what the kernel takes. While many
    /// streams have news at a time, a sleep on `io_uring` gathers it for up to 20 µs (Linux 6.12).
    Park,
    /// Looks for work for this long, then sleeps. The default, with [`IdlePolicy::SPIN_DEFAULT`].
    /// Zero looks once; [`Duration::MAX`] is [`IdlePolicy::Spin`]. It also wakes as long before a
    /// timer is due, up to 50 µs, and looks from there on, so that timers end on time.
    SpinThenPark(Duration),
    /// Never sleeps: a whole core a shard, for the shortest wakes.
    Spin,
}

impl IdlePolicy {
    /// How long the default policy looks for work before it sleeps.
    pub const SPIN_DEFAULT: Duration = Duration::from_micros(50);
}

impl Default for IdlePolicy {
    fn default() -> Self {
        Self::SpinThenPark(Self::SPIN_DEFAULT)
    }
}

/// Which I/O backend the shards take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Driver {
    /// io_uring where the kernel allows it, else epoll, with one log line that says why.
    #[default]
    Auto,
    /// io_uring or no start.
    Uring,
    /// epoll.
    Epoll,
    /// All shards on one thread, with virtual time and simulated sockets, from a seed.
    Sim(u64),
}

/// Where shards go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Placement {
    /// One shard a physical core that this process may use, inside its `cpu.max` quota.
    #[default]
    PhysicalCores,
    /// One shard a logical processor that this process may use, inside its quota.
    LogicalCores,
    /// One shard on each of these processors, in this order.
    Cores(Vec<usize>),
    /// One shard a physical core of this NUMA node.
    Numa(usize),
    /// This many shards, pinned nowhere.
    Unpinned(usize),
}

/// The checked settings of a runtime.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) idle: IdlePolicy,
    pub(crate) driver: Driver,
    pub(crate) lane_capacity: u32,
    pub(crate) inbox_capacity: usize,
    pub(crate) task_budget: Duration,
    pub(crate) ring_entries: u32,
    pub(crate) buffers: u16,
    pub(crate) buffer_bytes: usize,
    pub(crate) shutdown_limit: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            idle: IdlePolicy::default(),
            driver: Driver::Auto,
            lane_capacity: 1024,
            inbox_capacity: 1024,
            task_budget: Duration::from_micros(500),
            ring_entries: 1024,
            buffers: 1024,
            buffer_bytes: 4096,
            shutdown_limit: Duration::from_secs(5),
        }
    }
}
