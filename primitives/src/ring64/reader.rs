//! The consumer's side of one ring: its position, and what it has asked of the producers.

use super::shared::{CLOSED, Shared};
use super::slots::{Look, STEP, distance};
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
}

impl Reader {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let head = shared.start();
        Self {
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
        // Each hole is a slot, so a turn of the ring is the most that can lie here at once.
        for _ in 0..=self.shared.capacity() {
            match self.shared.slots().look(self.head) {
                Look::Value => {
                    let value = self.shared.slots().take(self.head);
                    self.head = self.head.wrapping_add(STEP);
                    return Some(value);
                }
                Look::Hole => self.pass_hole(),
                Look::Nothing => return None,
            }
        }
        None
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
        if self.told {
            self.count_busy(passed - skipped);
        }
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
        for _ in 0..=self.shared.capacity() {
            match self.shared.slots().look(self.head) {
                Look::Value => return true,
                Look::Hole => self.pass_hole(),
                Look::Nothing => break,
            }
        }
        self.release(false);
        false
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
        ahead && !self.shared.slots().is_reserved(self.head)
    }

    /// Whether everything that was claimed is taken, and nothing follows.
    pub(super) fn is_finished(&self) -> bool {
        let front = self.shared.front();
        front & CLOSED != 0 && distance(self.head, front) == 0
    }
}
