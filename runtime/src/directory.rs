//! The runtime's shared table: its shards, the ways between them, and its phase.
//!
//! Made before the first shard starts and never changed but through atomics; each shard holds it.
//! `submit` finds its target here, and shutdown tells everyone here.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use thread_aware::affinity::Affinity;

use crate::driver::RingKeepalive;
use crate::inbox::Inbox;
use crate::mesh::{Doorbells, Pair};
use crate::metrics::ShardCounters;
use crate::settings::Settings;
use crate::shard::ShardIndex;
use crate::shard::mailbox::Lease;
use crate::sync::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use crate::time::Instant;

/// What a shard may take to end beyond its own limit.
const STOP_SLACK: Duration = Duration::from_secs(1);

/// What everyone may know of one shard.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) mailbox: Lease,
    pub(crate) doorbells: Doorbells,
    pub(crate) inbox: Inbox,
    pub(crate) counters: Arc<ShardCounters>,
    pub(crate) affinity: Affinity,
    /// Which driver the shard took and why, once it has started.
    pub(crate) driver: OnceLock<DriverInfo>,
}

/// Which driver a shard runs on, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriverInfo {
    pub(crate) name: &'static str,
    pub(crate) reason: String,
}

impl DriverInfo {
    /// `uring`, `epoll` or `sim`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Why this driver: what was asked for, and what the kernel refused.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

/// How far a runtime is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Phase {
    /// Tasks run.
    Running = 0,
    /// Shutdown was asked for: tasks run on and may end by themselves.
    Draining = 1,
    /// Tasks are dropped and shards end.
    Stopping = 2,
}

/// All that the shards of one runtime share.
#[derive(Debug)]
pub(crate) struct Directory {
    pub(crate) members: Box<[Member]>,
    pub(crate) settings: Settings,
    /// A shard has said that it falls back to another driver.
    pub(crate) fallback_told: AtomicBool,
    pairs: Box<[OnceLock<Pair>]>,
    phase: AtomicU8,
    /// No `main` decides when draining ends: the shards do.
    drains_by_itself: AtomicBool,
    /// When draining ends, in the clock's nanoseconds.
    drain_until_ns: AtomicU64,
    stopped: Mutex<Stopped>,
    all_stopped: std::sync::Condvar,
}

#[derive(Debug, Default)]
pub(crate) struct Stopped {
    /// Shards that have dropped all that they had.
    pub(crate) shards: usize,
    /// Operations that the kernel still held when their shard's limit was over.
    pub(crate) in_flight: usize,
    /// Rings of stopped shards, which close together with the last one's.
    rings: Vec<RingKeepalive>,
}

impl Directory {
    pub(crate) fn new(members: Vec<Member>, settings: Settings) -> Arc<Self> {
        let pairs = members.len() * members.len();
        Arc::new(Self {
            members: members.into(),
            settings,
            fallback_told: AtomicBool::new(false),
            pairs: (0..pairs).map(|_| OnceLock::new()).collect(),
            phase: AtomicU8::new(Phase::Running as u8),
            drains_by_itself: AtomicBool::new(false),
            drain_until_ns: AtomicU64::new(u64::MAX),
            stopped: Mutex::default(),
            all_stopped: std::sync::Condvar::new(),
        })
    }

    pub(crate) fn member(&self, shard: ShardIndex) -> &Member {
        &self.members[shard.get()]
    }

    /// The way from one shard to another, made on first use.
    pub(crate) fn pair(&self, from: ShardIndex, to: ShardIndex) -> &Pair {
        self.pairs[from.get() * self.members.len() + to.get()].get_or_init(Pair::new)
    }

    /// The way from one shard to another, if it was ever used.
    pub(crate) fn used_pair(&self, from: ShardIndex, to: ShardIndex) -> Option<&Pair> {
        self.pairs[from.get() * self.members.len() + to.get()].get()
    }

    pub(crate) fn phase(&self) -> Phase {
        // Acquire: pairs with the Release in `advance`, for the time that goes with `Draining`.
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Running,
            1 => Phase::Draining,
            _ => Phase::Stopping,
        }
    }

    /// Says, before the shards start, that draining ends when no shard has a task or at its time.
    pub(crate) fn drains_by_itself(&self) {
        self.drains_by_itself.store(true, Ordering::Relaxed);
    }

    /// Whether draining is over at `now`. The shard that finds it so tells the others.
    pub(crate) fn is_drained(&self, now: Instant) -> bool {
        let over = self.drains_by_itself.load(Ordering::Relaxed)
            && (now >= self.drain_until() || self.is_idle());
        if over {
            self.stop();
        }
        over
    }

    /// Whether no shard has a task, and none will get one but from outside.
    fn is_idle(&self) -> bool {
        // A task that waits for another shard is live meanwhile. One that ended while this looked
        // may have left another on a shard that was looked at before it: then the second look finds
        // a task more. The inbox comes first: what has left it is a task already.
        let tasks = |member: &Member| {
            let waits = member.inbox.has_any();
            let ended = member.counters.ended.value_published();
            (!waits && ended == member.counters.spawned.value()).then_some(ended)
        };
        let look = || self.members.iter().map(tasks);
        look().all(|ended| ended.is_some()) && {
            let before: Vec<_> = look().collect();
            before.iter().all(Option::is_some) && look().eq(before)
        }
    }

    /// Asks all shards to end by themselves until `until`.
    pub(crate) fn drain(&self, until: Instant) {
        // Relaxed: published by the phase.
        self.drain_until_ns
            .fetch_min(until.as_nanos(), Ordering::Relaxed);
        self.advance(Phase::Draining);
    }

    /// Makes all shards drop their tasks and end.
    pub(crate) fn stop(&self) {
        self.advance(Phase::Stopping);
    }

    fn advance(&self, phase: Phase) {
        self.phase.fetch_max(phase as u8, Ordering::Release);
        for member in &self.members {
            member.mailbox.note();
            member.mailbox.ring(None);
        }
    }

    /// When draining ends.
    pub(crate) fn drain_until(&self) -> Instant {
        Instant::from_nanos(self.drain_until_ns.load(Ordering::Relaxed))
    }

    /// One shard has dropped its tasks and closed its driver.
    pub(crate) fn shard_stopped(&self, in_flight: usize, ring: Option<RingKeepalive>) {
        let mut stopped = self
            .stopped
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        stopped.in_flight += in_flight;
        stopped.rings.extend(ring);
        stopped.shards += 1;
        let all = stopped.shards == self.members.len();
        let rings = if all {
            std::mem::take(&mut stopped.rings)
        } else {
            Vec::new()
        };
        // They close before anybody is told that all is over, so that no descriptor is left then.
        drop(rings);
        self.all_stopped.notify_all();
    }

    /// Waits until all shards have stopped, for at most their own limit after `begin`; says what is
    /// left then.
    pub(crate) fn wait_stopped(&self, begin: Duration) -> (usize, usize) {
        // Both may be as long as a `Duration` gets: for ever.
        let limit = begin
            .saturating_add(self.settings.shutdown_limit)
            .saturating_add(STOP_SLACK);
        let stopped = self
            .stopped
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let all = self.members.len();
        let (stopped, _) = self
            .all_stopped
            .wait_timeout_while(stopped, limit, |stopped| stopped.shards < all)
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        (all - stopped.shards, stopped.in_flight)
    }
}
