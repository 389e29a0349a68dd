//! The state of a subscription, and the one step that changes it.

use super::gauge::{Gauges, overrun};
use super::settings::Overflow;
use crate::Version;
use crate::control::Control;
use crate::park::Bells;
use crate::sync::Newest;
use crate::topic::{Bell, Log, Spare};
use std::sync::Arc;

/// What the log carries: a value with its version, and nothing else, since every delivery reads it.
pub(super) struct Entry<T> {
    pub(super) number: u64,
    pub(super) value: Arc<T>,
}

impl<T> Clone for Entry<T> {
    fn clone(&self) -> Self {
        Self {
            number: self.number,
            value: Arc::clone(&self.value),
        }
    }
}

/// A value with its version: who has one has the other.
pub(super) struct State<T> {
    pub(super) version: Version,
    pub(super) is_last: bool,
    pub(super) value: Arc<T>,
    /// Its writer knew that every feed has room below this version. It stands here, since whoever
    /// exchanges this snapshot for the next has read it, and so may rely on what its writer saw;
    /// most changes thus look at no feed's limit (bench row `lossless_64_a`).
    room_until: u64,
}

impl<T> State<T> {
    fn first(value: T) -> Self {
        Self {
            version: Version(0),
            is_last: false,
            value: Arc::new(value),
            room_until: 0,
        }
    }

    /// What comes after this one.
    fn next(&self, value: Arc<T>, room_until: u64) -> Self {
        Self {
            version: Version(self.version.0 + 1),
            is_last: false,
            value,
            room_until,
        }
    }

    fn entry(&self) -> Entry<T> {
        Entry {
            number: self.version.0,
            value: Arc::clone(&self.value),
        }
    }
}

/// What handles and feeds share.
pub(super) struct Core<T> {
    pub(super) state: Newest<State<T>>,
    pub(super) log: Arc<Log<Entry<T>>>,
    pub(super) gauges: Gauges,
    pub(super) capacity: usize,
    pub(super) overflow: Overflow,
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
            state: Newest::new(Arc::new(State::first(value))),
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
                .read(|last| self.change_once(last, spare, &mut make));
            match changed {
                Err(Refusal::Busy) => {}
                changed => return changed,
            }
        }
        Err(Refusal::Busy)
    }

    fn change_once(
        &self,
        last: &Arc<State<T>>,
        spare: &Spare,
        make: &mut impl FnMut(&T) -> Arc<T>,
    ) -> Result<Version, Refusal> {
        self.carry(last, spare);
        if last.is_last {
            return Err(Refusal::Closed);
        }
        let number = last.version.0 + 1;
        let mut room_until = last.room_until;
        if number >= room_until {
            room_until = self.log.room_until(number);
            if number >= room_until {
                return Err(Refusal::Full);
            }
        }
        let full = match self.overflow {
            Overflow::Fail => overrun(&self.gauges, number),
            Overflow::Backpressure | Overflow::DropNew | Overflow::DropOldest => Vec::new(),
        };
        let next = last.next(make(&last.value), room_until);
        let entry = next.entry();
        if !self.state.replace(last, Arc::new(next)) {
            return Err(Refusal::Busy);
        }
        full.iter().for_each(|gauge| gauge.fail(number));
        if !self.log.append_at(number, spare, || entry) {
            // Who has helped may stop before its bell; this one rings in any case.
            self.log.fence_append();
        }
        match full.is_empty() {
            true => Ok(Version(number)),
            false => Err(Refusal::Overrun(Version(number))),
        }
    }

    /// Puts a snapshot into the log, or ends the log, if its writer has not yet done so.
    fn carry(&self, snapshot: &State<T>, spare: &Spare) {
        if !snapshot.is_last {
            let position = snapshot.version.0;
            self.log.append_at(position, spare, || snapshot.entry());
        } else if !self.log.is_closed() {
            self.log.close();
        }
    }

    /// Does for the newest snapshot what its writer may have stopped before, and tells whether
    /// there was anything to be done.
    pub(super) fn help(&self) -> bool {
        let is_due = self.state.read(|newest| match newest.is_last {
            true => !self.log.is_closed(),
            false => newest.version.0 >= self.log.tail(),
        });
        if is_due {
            let spare = Spare::new();
            let _bell = Bell(&self.log);
            self.state.read(|newest| self.carry(newest, &spare));
            self.log.end_publisher(&spare);
        }
        is_due
    }

    /// Makes the newest value the last one.
    pub(super) fn close(&self) {
        // Repeats only when another change was faster.
        loop {
            self.help();
            let closed = self.state.read(|last| {
                last.is_last || {
                    let end = State {
                        is_last: true,
                        value: Arc::clone(&last.value),
                        ..**last
                    };
                    let is_carried = last.version.0 < self.log.tail();
                    is_carried && self.state.replace(last, Arc::new(end))
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
            let closed = self.state.read(|last| {
                if last.is_last {
                    return Err(Refusal::Closed);
                }
                let end = State {
                    is_last: true,
                    ..last.next(Arc::clone(&value), last.room_until)
                };
                let version = end.version;
                let is_carried = last.version.0 < self.log.tail();
                if is_carried && self.state.replace(last, Arc::new(end)) {
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
