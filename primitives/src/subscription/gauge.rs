//! How far a feed that fails when it is full has room, and whether it has failed.
//!
//! The feed says up to which version it has room, which only grows; a writer looks before it
//! exchanges the state, and afterwards notes the version for which there was none. A feed that has
//! dropped a version had no room when its writer looked, so that writer tells. All is Relaxed: a
//! late look finds less room than there is, and nothing else is read because of it.

use crate::control::Control;
use crate::sync::{AtomicU64, Ordering};
use std::sync::Arc;

/// The gauges of all feeds of a subscription; none unless its policy is to fail.
pub(super) type Gauges = Control<Vec<Arc<Gauge>>>;

pub(super) struct Gauge {
    /// The first version without room.
    limit: AtomicU64,
    /// The first version that the feed does not yield any more.
    failed: AtomicU64,
}

impl Gauge {
    pub(super) fn new(limit: u64) -> Self {
        Self {
            limit: AtomicU64::new(limit),
            failed: AtomicU64::new(u64::MAX),
        }
    }

    /// The feed has room below `limit`, which grows.
    pub(super) fn set_limit(&self, limit: u64) {
        self.limit.store(limit, Ordering::Relaxed);
    }

    fn has_room(&self, version: u64) -> bool {
        version < self.limit.load(Ordering::Relaxed)
    }

    /// The feed does not yield `version`, nor what comes after it.
    pub(super) fn fail(&self, version: u64) {
        self.failed.fetch_min(version, Ordering::Relaxed);
    }

    /// Whether the feed has failed before or at `version`.
    pub(super) fn has_failed(&self, version: u64) -> bool {
        self.failed.load(Ordering::Relaxed) <= version
    }
}

/// The gauges that have no room for `version`, and have not failed before.
pub(super) fn overrun(gauges: &Gauges, version: u64) -> Vec<Arc<Gauge>> {
    gauges.read(|gauges| {
        let full = gauges.into_iter().flatten();
        let full = full.filter(|gauge| !gauge.has_room(version) && !gauge.has_failed(version));
        full.cloned().collect()
    })
}

/// Puts a gauge on the list.
pub(super) fn register(gauges: &Gauges, gauge: &Arc<Gauge>) {
    gauges.change(|gauges| {
        let mut all = gauges.cloned().unwrap_or_default();
        all.push(Arc::clone(gauge));
        Some(all)
    });
}

/// Takes a gauge off the list.
pub(super) fn forget(gauges: &Gauges, gauge: &Arc<Gauge>) {
    gauges.change(|gauges| {
        let rest = gauges?.iter().filter(|other| !Arc::ptr_eq(other, gauge));
        let rest: Vec<_> = rest.cloned().collect();
        (!rest.is_empty()).then_some(rest)
    });
}
