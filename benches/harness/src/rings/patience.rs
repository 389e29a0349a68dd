//! How the rounds wait: a few spins, then the core is given away, for a bounded time.

use std::cell::Cell;
use std::time::Duration;

use crate::clock_ns;

/// Looks in a row before the core is given away.
const SPINS: u64 = 64;
/// Looks in a row between two readings of the clock.
const CLOCK_EVERY: u64 = 256;
/// A wait that takes longer has hung.
const LIMIT: Duration = Duration::from_secs(20);

/// Looks in vain, in a row; shared by the tasks of one executor.
#[derive(Debug)]
pub(crate) struct Patience {
    limit_ns: u64,
    misses: Cell<u64>,
    until_ns: Cell<u64>,
}

impl Default for Patience {
    fn default() -> Self {
        Self::of(LIMIT)
    }
}

impl Patience {
    /// Patience for `limit`.
    pub(crate) fn of(limit: Duration) -> Self {
        Self {
            limit_ns: limit.as_nanos() as u64,
            misses: Cell::new(0),
            until_ns: Cell::new(0),
        }
    }

    /// The last look was not in vain.
    #[inline]
    pub(crate) fn calm(&self) {
        self.misses.set(0);
    }

    /// Waits a moment before the next look; `false` when the limit has passed.
    #[inline]
    pub(crate) fn wait(&self) -> bool {
        let misses = self.misses.get() + 1;
        self.misses.set(misses);
        if misses < SPINS {
            std::hint::spin_loop();
            return true;
        }
        std::thread::yield_now();
        self.within_limit(misses - SPINS)
    }

    /// Counts a look in vain of a task that lets other tasks run next, and now and then gives the
    /// core away; `false` when the limit has passed.
    #[inline]
    pub(crate) fn miss(&self) -> bool {
        let misses = self.misses.get() + 1;
        self.misses.set(misses);
        if !misses.is_multiple_of(SPINS) {
            return true;
        }
        std::thread::yield_now();
        self.within_limit((misses / SPINS - 1) * CLOCK_EVERY / 4)
    }

    /// `since` counts from the first time that the core was given away.
    fn within_limit(&self, since: u64) -> bool {
        if since == 0 {
            self.until_ns.set(clock_ns() + self.limit_ns);
            return true;
        }
        !since.is_multiple_of(CLOCK_EVERY) || clock_ns() < self.until_ns.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_ends_and_begins_anew() {
        let patience = Patience::of(Duration::from_millis(1));
        let mut looks = 0;
        while patience.wait() {
            looks += 1;
        }
        assert!(looks >= SPINS);
        patience.calm();
        assert!(patience.wait());
        patience.calm();
        while patience.miss() {
            looks += 1;
        }
        assert!(looks > SPINS);
    }
}
