//! A ring as plain queues: what stands at each place, who sleeps, and who waits.

use std::collections::VecDeque;

pub(crate) const SKIP_AFTER_MS: u64 = 50;

/// What stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Value(u64),
    /// Claimed, and neither published nor given up.
    Claim(u64),
    Empty,
}

/// What the consumer finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Value,
    Empty,
    HeldUp { due_ms: u64 },
    Over,
}

/// One who sleeps, and how often he was rung.
#[derive(Clone, Default, Debug)]
pub(crate) struct Sleeper {
    pub(crate) asleep: bool,
    pub(crate) rings: usize,
}

impl Sleeper {
    pub(crate) fn ring(&mut self) {
        self.rings += usize::from(std::mem::take(&mut self.asleep));
    }
}

/// A push that waits.
#[derive(Default)]
pub(crate) struct Wait {
    pub(crate) id: u64,
    pub(crate) ticket: Option<u64>,
    pub(crate) is_granted: bool,
    pub(crate) sleeper: Sleeper,
}

#[derive(Default)]
pub(crate) struct Model {
    pub(crate) capacity: usize,
    pub(crate) places: VecDeque<Place>,
    /// The first place's number.
    pub(crate) head: u64,
    pub(crate) is_closed: bool,
    pub(crate) now_ms: u64,
    seen: Option<(u64, u64)>,
    pub(crate) consumer: Sleeper,
    /// When the consumer's alarm goes off.
    pub(crate) alarm_ms: Option<u64>,
    pub(crate) waits: Vec<Wait>,
    tickets: u64,
    pub(crate) refused: u64,
    pub(crate) tombstones: u64,
    pub(crate) stepped_over: u64,
    pub(crate) skipped: u64,
    pub(crate) popped: u64,
}

impl Model {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            ..Self::default()
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.places.len() == self.capacity
    }

    pub(crate) fn pushed(&self) -> u64 {
        self.head + self.places.len() as u64
    }

    /// Steps over the claim that stands first, if it is old enough; else when it will be.
    fn step_over(&mut self) -> Result<(), u64> {
        let since_ms = match self.seen {
            Some((place, since_ms)) if place == self.head => since_ms,
            _ => self.now_ms,
        };
        self.seen = Some((self.head, since_ms));
        let due_ms = since_ms + SKIP_AFTER_MS;
        if self.now_ms < due_ms {
            return Err(due_ms);
        }
        self.places[0] = Place::Empty;
        self.stepped_over += 1;
        Ok(())
    }

    /// What the consumer finds; how many places it passes is told by `head`.
    pub(crate) fn look(&mut self) -> Look {
        loop {
            match self.places.front() {
                Some(Place::Value(_)) => return Look::Value,
                Some(Place::Empty) => {
                    self.places.pop_front();
                    self.head += 1;
                    self.skipped += 1;
                }
                Some(Place::Claim(_)) => {
                    if let Err(due_ms) = self.step_over() {
                        return Look::HeldUp { due_ms };
                    }
                }
                None if self.is_closed => return Look::Over,
                None => return Look::Empty,
            }
        }
    }

    pub(crate) fn pop(&mut self) -> Option<u64> {
        if self.look() != Look::Value {
            return None;
        }
        let Some(Place::Value(id)) = self.places.pop_front() else {
            unreachable!("it was just seen");
        };
        self.head += 1;
        self.popped += 1;
        Some(id)
    }

    /// `None` when the push or claim is refused by a full ring, after what that does.
    pub(crate) fn place(&mut self, place: Place) -> Option<()> {
        if self.is_full() {
            if matches!(self.places[0], Place::Claim(_)) && self.step_over().is_ok() {
                self.consumer.ring();
            }
            return None;
        }
        self.places.push_back(place);
        if matches!(place, Place::Value(_)) {
            self.consumer.ring();
        }
        Some(())
    }

    /// What becomes of claim `id`; false when it was stepped over.
    pub(crate) fn end_claim(&mut self, id: u64, place: Place) -> bool {
        let claim = self.places.iter_mut().find(|at| **at == Place::Claim(id));
        let Some(claim) = claim else { return false };
        *claim = place;
        self.consumer.ring();
        true
    }

    fn free(&self) -> usize {
        if self.is_closed {
            return usize::MAX;
        }
        self.capacity - self.places.len()
    }

    /// Grants what is free to those who wait, in their order, and rings them.
    pub(crate) fn serve(&mut self) {
        let granted = self.waits.iter().filter(|wait| wait.is_granted).count();
        let left = self.free().saturating_sub(granted);
        let mut waiting: Vec<&mut Wait> = self
            .waits
            .iter_mut()
            .filter(|wait| wait.ticket.is_some() && !wait.is_granted)
            .collect();
        waiting.sort_by_key(|wait| wait.ticket);
        for wait in waiting.into_iter().take(left) {
            wait.is_granted = true;
            wait.sleeper.ring();
        }
    }

    pub(crate) fn has_waiters(&self) -> bool {
        self.waits.iter().any(|wait| wait.ticket.is_some())
    }

    /// One poll of the push at `index`: true when it is over.
    pub(crate) fn poll_wait(&mut self, index: usize) -> bool {
        let id = self.waits[index].id;
        if self.waits[index].ticket.is_none() {
            if !self.has_waiters() && (self.is_closed || self.place(Place::Value(id)).is_some()) {
                return true;
            }
            self.tickets += 1;
            self.waits[index].ticket = Some(self.tickets);
            self.serve();
        }
        if self.waits[index].is_granted {
            self.waits[index].sleeper.asleep = false;
            if self.is_closed || self.place(Place::Value(id)).is_some() {
                self.leave(index);
                return true;
            }
            // Somebody who did not wait was quicker.
            self.waits[index].is_granted = false;
            self.serve();
        }
        self.waits[index].sleeper.asleep = true;
        false
    }

    /// The push at `index` waits no more; it keeps its place in the vector.
    pub(crate) fn leave(&mut self, index: usize) {
        let wait = &mut self.waits[index];
        wait.sleeper.asleep = false;
        wait.is_granted = false;
        if wait.ticket.take().is_some() {
            self.serve();
        }
    }
}
