//! Models of the doorbells: what a sender publishes is taken, whenever its bit is cleared.

use crate::explore::explore;
use corelane::model::Doorbells;
use corelane_primitives::SleepWord;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use std::sync::Arc;

/// Name and model, in the order in which mutants meet them.
pub(crate) const MODELS: &[(&str, fn())] = &[
    ("bit_shows_its_news_at_once", bit_shows_its_news_at_once),
    (
        "news_behind_a_clear_are_taken",
        news_behind_a_clear_are_taken,
    ),
    ("two_senders_ring_one_target", two_senders_ring_one_target),
];

/// A target that takes what senders publish, as a shard does in its turns. Relaxed: the bells alone
/// order it.
struct Target {
    bells: Doorbells,
    sleep: SleepWord,
    published: [AtomicUsize; 2],
}

impl Target {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            bells: Doorbells::new(2),
            sleep: SleepWord::new(),
            published: [AtomicUsize::new(0), AtomicUsize::new(0)],
        })
    }

    /// A thread that publishes `items` one after the other, and rings for each.
    fn sender(self: &Arc<Self>, from: usize, items: usize) {
        let target = self.clone();
        let owner = thread::current();
        thread::spawn(move || {
            for _ in 0..items {
                target.published[from].fetch_add(1, Ordering::Relaxed);
                target.bells.set(from);
                if let Some(epoch) = target.sleep.sleeper() {
                    owner.unpark();
                    target.sleep.mark_rung(epoch);
                }
            }
        });
    }

    /// Takes turns until so many items were taken from each.
    fn run_until(&self, wanted: [usize; 2]) {
        let mut taken = [0, 0];
        let mut again = Vec::new();
        while taken != wanted {
            // A turn: take from who has rung or is looked at once more, then clear the bits.
            let rung = self.bells.look();
            for from in again.drain(..).chain(rung.iter().copied()) {
                taken[from] = self.published[from].load(Ordering::Relaxed);
            }
            for from in rung {
                self.bells.clear(from);
                again.push(from);
            }
            if !again.is_empty() || taken == wanted {
                continue;
            }
            self.sleep.prepare();
            if !self.bells.any() {
                thread::park();
            }
            self.sleep.awake();
        }
    }
}

pub(crate) fn bit_shows_its_news_at_once() {
    explore(|| {
        let target = Target::new();
        target.sender(0, 1);
        if target.bells.look() == [0] {
            assert_eq!(target.published[0].load(Ordering::Relaxed), 1);
        }
    });
}

pub(crate) fn news_behind_a_clear_are_taken() {
    explore(|| {
        let target = Target::new();
        target.sender(0, 2);
        target.run_until([2, 0]);
    });
}

pub(crate) fn two_senders_ring_one_target() {
    explore(|| {
        let target = Target::new();
        target.sender(0, 1);
        target.sender(1, 1);
        target.run_until([1, 1]);
    });
}
