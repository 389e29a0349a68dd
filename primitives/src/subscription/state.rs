//! The state of a subscription, and the one step that changes it.

use super::gauge::{Gauges, overrun};
use super::settings::Overflow;
use crate::Version;
use crate::control::Control;
use crate::park::Bells;
use crate::signal::{Follow, Shared, Snapshot};
use crate::sync::{Home, Newest};
use crate::topic::{Bell, Log, Spare};
use std::sync::Arc;

/// What the log carries: a value with its version.
pub(super) type Entry<T> = Arc<Snapshot<T>>;

/// What handles and feeds share.
pub struct Core<T> {
    pub(super) state: Shared<T>,
    pub(super) log: Arc<Log<Entry<T>>>,
    pub(super) gauges: Gauges,
    pub(super) capacity: usize,
    pub(super) overflow: Overflow,
}

impl<T> Home for Arc<Core<T>> {
    type Value = Snapshot<T>;

    #[inline]
    fn newest(&self) -> &Newest<Snapshot<T>> {
        self.state.newest()
    }
}

/// Why a change has no version, or not that alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// A feed has no room.
    Full,
    /// Others were faster, as often as the caller was ready to try.
    Busy,
    Closed,
    /// It was made, and a feed has failed.
    Overrun(Version),
}

impl<T> Core<T> {
    pub(super) fn new(value: T, capacity: usize, overflow: Overflow) -> Self {
        let core = Self {
            state: Shared::new(value),
            log: Arc::new(Log::new(capacity, Arc::new(Bells::new()))),
            gauges: Control::new(),
            capacity,
            overflow,
        };
        core.help();
        core
    }

    /// Changes the state to what `make` makes of it, if every feed has room. The caller holds the
    /// log's bell.
    ///
    /// `make` runs again when another change was faster.
    pub(super) fn change(
        &self,
        spare: &Spare,
        attempts_max: u32,
        mut make: impl FnMut(&T) -> Arc<T>,
    ) -> Result<Version, Refusal> {
        for _ in 0..attempts_max {
            let changed = self
                .state
                .snapshot(|last| self.change_once(last, spare, &mut make));
            match changed {
                Err(Refusal::Busy) => {}
                changed => return changed,
            }
        }
        Err(Refusal::Busy)
    }

    fn change_once(
        &self,
        last: &Entry<T>,
        spare: &Spare,
        make: &mut impl FnMut(&T) -> Arc<T>,
    ) -> Result<Version, Refusal> {
        self.carry(last, spare);
        if last.mark.is_last {
            return Err(Refusal::Closed);
        }
        let Version(number) = last.mark.version;
        let number = number + 1;
        if !self.log.has_room(number) {
            return Err(Refusal::Full);
        }
        let full = match self.overflow {
            Overflow::Fail => overrun(&self.gauges, number),
            Overflow::Backpressure | Overflow::DropNew | Overflow::DropOldest => Vec::new(),
        };
        let next = Arc::new(last.next(make(&last.value), Follow::More));
        if !self.state.exchange(last, Arc::clone(&next)) {
            return Err(Refusal::Busy);
        }
        full.iter().for_each(|gauge| gauge.fail(number));
        if !self.log.append_at(number, spare, || next) {
            // Who has helped may stop before its bell; this one rings in any case.
            self.log.fence_append();
        }
        match full.is_empty() {
            true => Ok(Version(number)),
            false => Err(Refusal::Overrun(Version(number))),
        }
    }

    /// Puts a snapshot into the log, or ends the log, if its writer has not yet done so.
    fn carry(&self, snapshot: &Entry<T>, spare: &Spare) {
        let Version(number) = snapshot.mark.version;
        if !snapshot.mark.is_last {
            self.log.append_at(number, spare, || Arc::clone(snapshot));
        } else if !self.log.is_closed() {
            self.log.close();
        }
    }

    /// Does for the newest snapshot what its writer may have stopped before, and tells whether
    /// there was anything to be done.
    pub(super) fn help(&self) -> bool {
        let is_due = self.state.snapshot(|newest| match newest.mark.is_last {
            true => !self.log.is_closed(),
            false => newest.mark.version.0 >= self.log.tail(),
        });
        if is_due {
            let spare = Spare::new();
            let _bell = Bell(&self.log);
            self.state.snapshot(|newest| self.carry(newest, &spare));
            self.log.end_publisher(&spare);
        }
        is_due
    }

    /// Makes the newest value the last one.
    pub(super) fn close(&self) {
        // Repeats only when another change was faster.
        loop {
            self.help();
            let closed = self.state.snapshot(|last| {
                last.mark.is_last || {
                    let is_carried = last.mark.version.0 < self.log.tail();
                    is_carried && self.state.exchange(last, Arc::new(last.last()))
                }
            });
            if closed {
                break;
            }
        }
        self.log.close();
    }

    /// Changes the state for the last time; it needs no room.
    pub(super) fn close_with(&self, value: T) -> Result<Version, T> {
        let value = Arc::new(value);
        // Repeats only when another change was faster.
        loop {
            self.help();
            let closed = self.state.snapshot(|last| {
                if last.mark.is_last {
                    return Err(Refusal::Closed);
                }
                let next = last.next(Arc::clone(&value), Follow::Nothing);
                let version = next.mark.version;
                let is_carried = last.mark.version.0 < self.log.tail();
                if is_carried && self.state.exchange(last, Arc::new(next)) {
                    return Ok(version);
                }
                Err(Refusal::Busy)
            });
            match closed {
                Err(Refusal::Busy) => {}
                Ok(version) => {
                    self.log.close();
                    return Ok(version);
                }
                Err(_) => {
                    self.log.close();
                    let value = Arc::into_inner(value);
                    return Err(value.expect("what was never published has one holder"));
                }
            }
        }
    }
}
