//! Since when a claim holds others up, as the first of them has seen it.

use crate::pad::CachePadded;
use crate::sync::{AtomicU64, Ordering, Site, acquire, release};

/// When somebody was first held up at the oldest place of a ring.
///
/// Many note it at once, without a lock: the time only grows, so a slow one that notes an older
/// place makes the age start anew, and never makes it too high.
pub struct FirstSight(CachePadded<Noted>);

struct Noted {
    place: AtomicU64,
    since_ns: AtomicU64,
}

impl FirstSight {
    /// Nothing was seen yet, `never` being no place.
    pub fn new(never: u64) -> Self {
        Self(CachePadded::new(Noted {
            place: AtomicU64::new(never),
            since_ns: AtomicU64::new(0),
        }))
    }

    /// Since when `place` has held somebody up: `now_ns` when this is the first look at it.
    pub fn since(&self, place: u64, now_ns: u64) -> u64 {
        let noted = &self.0;
        // Acquire, partner SightNote: the time of this very place, or a later one.
        if noted.place.load(acquire(Site::SightRead)) == place {
            return noted.since_ns.load(Ordering::Relaxed);
        }
        let last_ns = noted.since_ns.fetch_max(now_ns, Ordering::Relaxed);
        // Release, partner SightRead.
        noted.place.store(place, release(Site::SightNote));
        last_ns.max(now_ns)
    }
}
