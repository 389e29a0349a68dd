//! The runtime's shared tables: its shards, its settings, the ways between shards, and its phase.
//!
//! What never changes ([`Table`]) each core has for itself: a [`Directory`] is a handle of that,
//! which a shard relocates to its core when it starts, and whose clones count on their core alone.
//! What changes ([`Shared`]) changes through atomics. Both are made before the first shard starts.
//! `submit` finds its target here, and shutdown tells everyone here.

use std::ops::Deref;
use std::sync::{Arc as StdArc, Mutex, OnceLock};
use std::time::Duration;

use thread_aware::affinity::Affinity;
use thread_aware::{Arc, PerCore, ThreadAware};

use crate::driver::RingKeepalive;
use crate::idle::{self, Books};
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
    pub(crate) counters: StdArc<ShardCounters>,
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

/// A handle of the tables of one runtime.
#[derive(Debug, Clone, ThreadAware)]
pub(crate) struct Directory(Arc<Table, PerCore>);

/// What every core has of its own: it is read, and never written.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) members: Box<[StdArc<Member>]>,
    pub(crate) settings: Settings,
    shared: StdArc<Shared>,
}

/// What all shards of one runtime change.
#[derive(Debug)]
pub(crate) struct Shared {
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
    pub(crate) fn new(members: Vec<Member>, settings: Settings) -> Self {
        let pairs = members.len() * members.len();
        let shared = Shared {
            fallback_told: AtomicBool::new(false),
            pairs: (0..pairs).map(|_| OnceLock::new()).collect(),
            phase: AtomicU8::new(Phase::Running as u8),
            drains_by_itself: AtomicBool::new(false),
            drain_until_ns: AtomicU64::new(u64::MAX),
            stopped: Mutex::default(),
            all_stopped: std::sync::Condvar::new(),
        };
        Self(Arc::from_unaware(Table {
            members: members.into_iter().map(StdArc::new).collect(),
            settings,
            shared: StdArc::new(shared),
        }))
    }

    /// A handle in the memory of the shard at `place`, which calls it.
    pub(crate) fn on(&self, place: ShardIndex) -> Self {
        let mut here = self.clone();
        here.relocate(None, self.member(place).affinity);
        here
    }

    /// Whether both are of one runtime.
    #[inline]
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        StdArc::ptr_eq(&self.shared, &other.shared)
    }
}

impl Deref for Directory {
    type Target = Table;

    #[inline]
    fn deref(&self) -> &Table {
        &self.0
    }
}

impl Table {
    /// What the shards change, for those who look at it often.
    pub(crate) fn shared(&self) -> &StdArc<Shared> {
        &self.shared
    }

    #[inline]
    pub(crate) fn member(&self, shard: ShardIndex) -> &StdArc<Member> {
        &self.members[shard.get()]
    }

    /// The way from one shard to another, made on first use.
    pub(crate) fn pair(&self, from: ShardIndex, to: ShardIndex) -> &Pair {
        self.shared.pairs[from.get() * self.members.len() + to.get()].get_or_init(Pair::new)
    }

    /// The way from one shard to another, if it was ever used.
    pub(crate) fn used_pair(&self, from: ShardIndex, to: ShardIndex) -> Option<&Pair> {
        self.shared.pairs[from.get() * self.members.len() + to.get()].get()
    }

    /// Says, before the shards start, that draining ends when no shard has a task or at its time.
    pub(crate) fn drains_by_itself(&self) {
        self.shared.drains_by_itself.store(true, Ordering::Relaxed);
    }

    /// Whether draining is over at `now`. The shard that finds it so tells the others.
    pub(crate) fn is_drained(&self, now: Instant) -> bool {
        let over = self.shared.drains_by_itself.load(Ordering::Relaxed)
            && (now >= self.drain_until() || self.is_idle());
        if over {
            self.stop();
        }
        over
    }

    fn is_idle(&self) -> bool {
        idle::is_idle(|| {
            self.members.iter().map(|member| Books {
                inbox: &member.inbox,
                spawned: &member.counters.spawned,
                ended: &member.counters.ended,
            })
        })
    }

    /// Asks all shards to end by themselves until `until`.
    pub(crate) fn drain(&self, until: Instant) {
        // Relaxed: published by the phase.
        self.shared
            .drain_until_ns
            .fetch_min(until.as_nanos(), Ordering::Relaxed);
        self.advance(Phase::Draining);
    }

    /// Makes all shards drop their tasks and end.
    pub(crate) fn stop(&self) {
        self.advance(Phase::Stopping);
    }

    fn advance(&self, phase: Phase) {
        self.shared.phase.fetch_max(phase as u8, Ordering::Release);
        for member in &self.members {
            member.mailbox.note();
            member.mailbox.ring(None);
        }
    }

    /// When draining ends.
    pub(crate) fn drain_until(&self) -> Instant {
        Instant::from_nanos(self.shared.drain_until_ns.load(Ordering::Relaxed))
    }

    /// One shard has dropped its tasks and closed its driver.
    pub(crate) fn shard_stopped(&self, in_flight: usize, ring: Option<RingKeepalive>) {
        let mut stopped = self
            .shared
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
        self.shared.all_stopped.notify_all();
    }

    /// Waits until all shards have stopped, for at most their own limit after `begin`; says what is
    /// left then.
    pub(crate) fn wait_stopped(&self, begin: Duration) -> (usize, usize) {
        // Both may be as long as a `Duration` gets: for ever.
        let limit = begin
            .saturating_add(self.settings.shutdown_limit)
            .saturating_add(STOP_SLACK);
        let stopped = self
            .shared
            .stopped
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let all = self.members.len();
        let (stopped, _) = self
            .shared
            .all_stopped
            .wait_timeout_while(stopped, limit, |stopped| stopped.shards < all)
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        (all - stopped.shards, stopped.in_flight)
    }
}

impl Shared {
    #[inline]
    pub(crate) fn phase(&self) -> Phase {
        // Acquire: pairs with the Release in `advance`, for the time that goes with `Draining`.
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Running,
            1 => Phase::Draining,
            _ => Phase::Stopping,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Placement;
    use crate::shard::{Context, Shard, shard, shards};
    use crate::start::Runtime;

    /// Where the tables are that a handle of a shard reads.
    fn read_by(shard: &Shard) -> usize {
        Arc::as_ptr(&shard.directory().0).addr()
    }

    // proves: RT-10
    #[test]
    fn each_shard_reads_tables_of_its_own_core() {
        let check = async || {
            let mut tables = Vec::new();
            for target in shards().iter() {
                let own = target.submit(|| async {
                    let own = Context::with(|context| Arc::as_ptr(&context.directory().0).addr());
                    assert_eq!(read_by(&shard()), own);
                    assert!(shards().iter().all(|shard| read_by(shard) == own));
                    own
                });
                let own = own.await.unwrap();
                // A handle that is sent with a call reads those of its target, and is the same.
                let sent =
                    target.submit_with(shard(), |sent| async move { (read_by(&sent), sent) });
                let (read, sent) = sent.await.unwrap();
                assert_eq!((read, sent), (own, shard()));
                tables.push(own);
            }
            tables.sort_unstable();
            tables.dedup();
            assert_eq!(tables.len(), 3);
        };
        let builder = || Runtime::builder().placement(Placement::Unpinned(3));
        builder().run(check).unwrap();
        for seed in 0..4 {
            builder().simulate(seed, check).unwrap();
        }
    }
}
