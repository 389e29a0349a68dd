//! The consumer's walk along the slots.

use super::shared::Shared;
use super::slots::{Found, STEP};
use crate::drain::DrainMeter;
use crate::sync::Arc;

/// What the consumer finds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Value,
    Empty,
    /// A claim stands first that nobody has published. At `due_ns` of the ring's clock, which may
    /// have passed, it is stepped over by the next look; without that, it is being written.
    HeldUp {
        due_ns: Option<u64>,
    },
    /// Closed and empty.
    Over,
}

/// The consumer's place, and what it has passed since it last told.
pub(super) struct Reader<T> {
    pub(super) shared: Arc<Shared<T>>,
    head: u64,
    /// Passed since the last release.
    taken: usize,
    skipped: u64,
    meter: DrainMeter,
}

impl<T> Reader<T> {
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        Self {
            head: shared.tail(),
            taken: 0,
            skipped: 0,
            meter: DrainMeter::new(shared.slots.capacity()),
            shared,
        }
    }

    /// Looks what comes next, and passes places without a value. Takes none.
    #[inline]
    pub(super) fn look(&mut self) -> Look {
        match self.shared.slots.look(self.head) {
            Found::Value => Look::Value,
            _ => self.look_further(),
        }
    }

    #[cold]
    fn look_further(&mut self) -> Look {
        // Two looks a place, one to step over it and one to pass it. Whoever gives up claims faster
        // than this passes them does not keep it here.
        for _ in 0..2 * self.shared.slots.capacity() + 2 {
            match self.shared.slots.look(self.head) {
                Found::Value => return Look::Value,
                Found::Writing => return Look::HeldUp { due_ns: None },
                Found::Skipped => self.pass(),
                Found::Free if !self.shared.is_claimed(self.head) => {
                    self.meter.idle();
                    if self.shared.is_over_at(self.head) {
                        return Look::Over;
                    }
                    return Look::Empty;
                }
                // Nobody is there who could still begin.
                Found::Free if self.shared.is_abandoned() => self.shared.step_over_now(self.head),
                Found::Free => {
                    if let Err(due_ns) = self.shared.step_over(self.head) {
                        let due_ns = Some(due_ns);
                        return Look::HeldUp { due_ns };
                    }
                }
            }
        }
        Look::HeldUp { due_ns: Some(0) }
    }

    /// Looks whether the ring is fuller than ever. Before a drain.
    #[inline]
    pub(super) fn note_peak(&self) {
        self.shared.note_peak(self.head);
    }

    /// Takes the next value if there is one.
    #[inline]
    pub(super) fn next(&mut self) -> Option<T> {
        if self.look() != Look::Value {
            return None;
        }
        let place = self.head;
        // SAFETY: Valid: `look` has found a value there. Exclusive: `&mut self` is the consumer,
        // and frees the slot next.
        let value = unsafe { self.shared.slots.take(place) };
        self.shared.slots.free(place);
        self.head = place.wrapping_add(STEP);
        self.taken += 1;
        Some(value)
    }

    fn pass(&mut self) {
        self.shared.slots.free(self.head);
        self.head = self.head.wrapping_add(STEP);
        self.skipped += 1;
    }

    /// Tells everybody what was taken and passed since the last time, and who waits for the room.
    /// Returns how many places were passed without a value.
    #[inline]
    pub(super) fn release(&mut self) -> u64 {
        let (taken, skipped) = (self.taken, self.skipped);
        if taken as u64 + skipped == 0 {
            return 0;
        }
        (self.taken, self.skipped) = (0, 0);
        self.shared.release(self.head, skipped);
        self.meter
            .took(taken, &self.shared.clock, &self.shared.drain);
        self.shared.notify_producers();
        skipped
    }

    /// Whether the ring is closed and everything in it was taken.
    pub(super) fn is_over(&self) -> bool {
        self.shared.is_over_at(self.head)
    }

    /// Ends the ring for its producers, and gives all values that are inside one by one.
    ///
    /// What is claimed and not begun is stepped over, so that whoever is late gets its value back.
    pub(super) fn drain(&mut self, mut each: impl FnMut(T)) {
        let end = self.shared.tail();
        while self.head != end {
            match self.shared.slots.look(self.head) {
                Found::Free if !self.shared.fills_all() => self.shared.step_over_now(self.head),
                Found::Skipped => self.pass(),
                Found::Value => each(self.next().expect("it was just seen")),
                // It goes with the last handle.
                Found::Free | Found::Writing => self.head = self.head.wrapping_add(STEP),
            }
        }
    }
}
