//! The consumer's side of one ring: its position, and what it has asked of the producers.

use super::shared::{CLOSED, Shared};
use super::slots::{Look, STEP, distance};
use crate::drain::DrainMeter;
use crate::sync::Arc;

/// Values taken without a sleep after which publishers need not look for a sleeper any more.
const BUSY_AFTER: u32 = if cfg!(corelane_loom) { 1 } else { 256 };

pub(super) struct Reader {
    pub(super) shared: Arc<Shared>,
    /// The next place to look at.
    head: u64,
    /// What was handed back so far.
    released: u64,
    /// Holes passed since then.
    skipped: u64,
    /// Whether publishers look for a sleeper.
    told: bool,
    /// Whoever claimed a place before this one does not look for a sleeper.
    silent_until: u64,
    /// Values taken since the last sleep.
    taken: u32,
    /// When the reserved place that stands first may be stepped over, on the ring's clock; the
    /// largest number when none does.
    due_ns: u64,
    meter: DrainMeter,
}

impl Reader {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let head = shared.start();
        Self {
            meter: DrainMeter::new(shared.capacity()),
            due_ns: u64::MAX,
            shared,
            head,
            released: head,
            skipped: 0,
            told: true,
            silent_until: head,
            taken: 0,
        }
    }

    /// Takes the next value, without handing its slot back.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<u64> {
        // Each hole is a slot, so a turn of the ring is the most that can lie here at once; a
        // reserved one is looked at twice.
        for _ in 0..=2 * self.shared.capacity() {
            match self.shared.slots().look(self.head) {
                Look::Value => {
                    let value = self.shared.slots().take(self.head);
                    self.head = self.head.wrapping_add(STEP);
                    return Some(value);
                }
                Look::Hole => self.pass_hole(),
                Look::Reserved if self.step_over() => {}
                Look::Reserved | Look::Nothing => return None,
            }
        }
        None
    }

    /// Folds values that come next, up to `max`, without handing their slots back, and says how
    /// many: none when there is none.
    #[inline(always)]
    pub(super) fn fold_run<A>(
        &mut self,
        max: usize,
        mut acc: A,
        f: &mut impl FnMut(A, u64) -> A,
    ) -> (A, usize) {
        let run = self.shared.slots().run(self.head, max);
        let count = run.len();
        if count == 0 {
            return match self.next() {
                Some(value) => (f(acc, value), 1),
                None => (acc, 0),
            };
        }
        let mut passed = Passed {
            head: &mut self.head,
            by: 0,
        };
        for value in run.values() {
            passed.by += STEP;
            acc = f(acc, value);
        }
        (acc, count)
    }

    /// Hands back all that was taken since the last time, and returns how many positions of it were
    /// holes. `more` tells whether there may be more to take.
    #[inline]
    pub(super) fn release(&mut self, more: bool) -> u64 {
        let passed = distance(self.released, self.head);
        if passed == 0 {
            return 0;
        }
        self.shared.note_peak(self.released, passed, more);
        self.released = self.head;
        let skipped = std::mem::take(&mut self.skipped);
        if skipped > 0 {
            self.shared.count_skipped(skipped);
        }
        self.shared.release(self.head);
        let taken = passed - skipped;
        let desk = self.shared.desk();
        self.meter.took(taken as usize, &desk.clock, &desk.drain);
        if self.told {
            self.count_busy(taken);
        }
        self.shared.notify_producers();
        skipped
    }

    /// A consumer that keeps finding values does not sleep: spare publishers the look.
    #[inline]
    fn count_busy(&mut self, taken: u64) {
        self.taken = self.taken.saturating_add(taken as u32);
        if self.taken >= BUSY_AFTER {
            self.told = false;
            self.shared.need_not_tell();
        }
    }

    /// Whether there is a value. Holes before it are passed and handed back.
    pub(super) fn has_value(&mut self) -> bool {
        self.due_ns = u64::MAX;
        for _ in 0..=2 * self.shared.capacity() {
            match self.shared.slots().look(self.head) {
                Look::Value => return true,
                Look::Hole => self.pass_hole(),
                Look::Reserved if self.step_over() => {}
                Look::Reserved | Look::Nothing => break,
            }
        }
        self.release(false);
        // Nobody takes anything until there is a value.
        self.idle();
        false
    }

    /// Steps over the reserved place that stands first, once it is old enough.
    #[cold]
    fn step_over(&mut self) -> bool {
        match self.shared.step_over(self.head) {
            Ok(()) => true,
            Err(due_ns) => {
                self.due_ns = due_ns;
                false
            }
        }
    }

    /// When the place that stood first at the last [`has_value`](Self::has_value) may be stepped
    /// over.
    pub(super) fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// Whether a claim stands first that is not published.
    pub(super) fn is_held_up(&self) -> bool {
        !self.is_empty() && self.shared.slots().look(self.head) != Look::Value
    }

    /// The ring was found empty.
    pub(super) fn idle(&mut self) {
        self.meter.idle();
    }

    fn is_empty(&self) -> bool {
        distance(self.head, self.shared.front()) == 0
    }

    fn pass_hole(&mut self) {
        self.head = self.head.wrapping_add(STEP);
        self.skipped += 1;
    }

    /// Before a sleep, after the mark: whoever claims from now on looks for it.
    pub(super) fn ask_to_tell(&mut self) {
        self.taken = 0;
        if !self.told {
            self.told = true;
            self.silent_until = self.shared.ask_to_tell();
        }
    }

    /// Whether somebody may be about to publish who will not look for a sleeper.
    pub(super) fn is_silent(&self) -> bool {
        // Places in between are at most one ring apart; anything else lies behind the head.
        let silent = distance(self.head, self.silent_until);
        let ahead = silent != 0 && silent <= self.shared.capacity() as u64;
        // Behind a reserved place nobody matters: it is filled first, and then somebody looks.
        ahead && self.shared.slots().look(self.head) != Look::Reserved
    }

    /// Whether everything that was claimed is taken, and nothing follows.
    pub(super) fn is_finished(&self) -> bool {
        let front = self.shared.front();
        front & CLOSED != 0 && distance(self.head, front) == 0
    }
}

/// Moves the head on, also when the caller's function panics: by what that was given.
struct Passed<'a> {
    head: &'a mut u64,
    by: u64,
}

impl Drop for Passed<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        *self.head = self.head.wrapping_add(self.by);
    }
}
