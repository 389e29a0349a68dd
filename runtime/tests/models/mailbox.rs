//! Models of the mailbox: a wake is never lost, and brings what its waker did before.

use crate::explore::explore;
use corelane::model::Mailbox;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use std::sync::Arc;

/// Name and model, in the order in which mutants meet them.
pub(crate) const MODELS: &[(&str, fn())] = &[
    (
        "wake_reaches_a_sleeping_shard",
        wake_reaches_a_sleeping_shard,
    ),
    (
        "wakers_of_one_word_lose_nothing",
        wakers_of_one_word_lose_nothing,
    ),
    (
        "wakers_of_two_words_lose_nothing",
        wakers_of_two_words_lose_nothing,
    ),
    (
        "task_that_is_woken_again_runs_again",
        task_that_is_woken_again_runs_again,
    ),
    (
        "stopped_waker_takes_no_wake_from_another",
        stopped_waker_takes_no_wake_from_another,
    ),
];

/// A shard with a task for each slot, and what each of them waits for. Relaxed: the wakes alone
/// order it.
struct Shard {
    mailbox: Mailbox,
    news: Vec<AtomicUsize>,
}

impl Shard {
    fn new(slots: usize) -> Arc<Self> {
        Arc::new(Self {
            mailbox: Mailbox::new(slots),
            news: (0..slots).map(|_| AtomicUsize::new(0)).collect(),
        })
    }

    /// A thread that leaves news for the tasks in `slots`, one after the other, and wakes each.
    fn waker(self: &Arc<Self>, slots: &'static [usize]) {
        let shard = self.clone();
        let owner = thread::current();
        thread::spawn(move || {
            for &slot in slots {
                shard.news[slot].fetch_add(1, Ordering::Relaxed);
                shard.mailbox.wake(slot, || owner.unpark());
            }
        });
    }

    /// Runs the tasks that are woken, until `wanted` says that all have what they wait for.
    /// Whatever is not seen by then was lost, and the shard sleeps for ever.
    fn run_until(&self, wanted: impl Fn(&[usize]) -> bool) {
        let mut seen = vec![0; self.news.len()];
        loop {
            for slot in self.mailbox.collect() {
                seen[slot] = self.news[slot].load(Ordering::Relaxed);
            }
            if wanted(&seen) {
                return;
            }
            self.mailbox.sleep(thread::park);
        }
    }
}

pub(crate) fn wake_reaches_a_sleeping_shard() {
    explore(|| {
        let shard = Shard::new(1);
        shard.waker(&[0]);
        shard.run_until(|seen| seen == [1]);
    });
}

/// Two bits of one word and one bit of the summary: whoever takes the one finds the other.
pub(crate) fn wakers_of_one_word_lose_nothing() {
    explore(|| {
        let shard = Shard::new(2);
        shard.waker(&[0]);
        shard.waker(&[1]);
        shard.run_until(|seen| seen == [1, 1]);
    });
}

pub(crate) fn wakers_of_two_words_lose_nothing() {
    explore(|| {
        let shard = Shard::new(65);
        shard.waker(&[0]);
        shard.waker(&[64]);
        shard.run_until(|seen| seen[0] == 1 && seen[64] == 1);
    });
}

pub(crate) fn task_that_is_woken_again_runs_again() {
    explore(|| {
        let shard = Shard::new(1);
        shard.waker(&[0, 0]);
        shard.run_until(|seen| seen == [2]);
    });
}

/// One waker sets the task's bit and never goes on. Another one that finds the bit set does not
/// rely on it; and what the first one did before is seen when its bit is taken.
pub(crate) fn stopped_waker_takes_no_wake_from_another() {
    explore(|| {
        let shard = Shard::new(2);
        let stopped = shard.clone();
        thread::spawn(move || {
            stopped.news[0].fetch_add(1, Ordering::Relaxed);
            stopped.mailbox.wake_half(0);
        });
        shard.waker(&[0]);
        // The stopped one may come before or after; what it did alone may stay unseen.
        shard.run_until(|seen| seen[0] >= 1);
    });
}
