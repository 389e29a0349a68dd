//! Models of a work item: its answer comes whole, its block is freed once, and a cancel is heard.

use crate::explore::explore;
use corelane::model::{Target, item};
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize as Count;

/// Name and model, in the order in which mutants meet them.
pub(crate) const MODELS: &[(&str, fn())] = &[
    ("answer_that_is_seen_is_whole", answer_that_is_seen_is_whole),
    (
        "answer_nobody_takes_is_dropped_once_and_whole",
        answer_nobody_takes_is_dropped_once_and_whole,
    ),
    (
        "call_that_ends_without_an_answer_is_freed_once",
        call_that_ends_without_an_answer_is_freed_once,
    ),
    ("cancel_meets_the_worker", cancel_meets_the_worker),
];

const WHOLE: usize = 7;

/// An answer in memory of its own. Relaxed: the item alone orders it.
#[derive(Clone)]
struct Memory {
    written: Arc<AtomicUsize>,
    /// Drops that saw the answer whole. Std's on purpose: it must not order what is explored.
    dropped: Arc<Count>,
}

/// The answer; its drop looks at it, wherever it happens. A panic there would be contained.
struct Answer(Memory);

impl Memory {
    fn new() -> Self {
        let written = Arc::new(AtomicUsize::new(0));
        let dropped = Arc::default();
        Self { written, dropped }
    }

    fn answer(&self, target: Target<Answer>) {
        self.written.store(WHOLE, Ordering::Relaxed);
        target.answer(Answer(self.clone()));
    }

    fn is_whole(&self) -> bool {
        self.written.load(Ordering::Relaxed) == WHOLE
    }

    fn dropped(&self) -> usize {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        if self.0.is_whole() {
            self.0.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

pub(crate) fn answer_that_is_seen_is_whole() {
    explore(|| {
        let memory = Memory::new();
        let (mut sender, target) = item();
        let theirs = memory.clone();
        let answering = thread::spawn(move || theirs.answer(target));
        if let Some(answer) = sender.take() {
            assert!(memory.is_whole());
            drop(answer);
            assert_eq!(memory.dropped(), 1);
        }
        drop(sender);
        answering.join().unwrap();
        assert_eq!(memory.dropped(), 1);
    });
}

/// Either end may be the last.
pub(crate) fn answer_nobody_takes_is_dropped_once_and_whole() {
    explore(|| {
        let memory = Memory::new();
        let (sender, target) = item();
        let theirs = memory.clone();
        let answering = thread::spawn(move || theirs.answer(target));
        drop(sender);
        answering.join().unwrap();
        assert_eq!(memory.dropped(), 1);
    });
}

pub(crate) fn call_that_ends_without_an_answer_is_freed_once() {
    explore(|| {
        let (mut sender, target) = item::<usize>();
        let ending = thread::spawn(move || drop(target));
        assert_eq!(sender.take(), None);
        drop(sender);
        ending.join().unwrap();
    });
}

/// The sender sees who works, or the worker sees that it is cancelled.
pub(crate) fn cancel_meets_the_worker() {
    explore(|| {
        let (sender, target) = item::<usize>();
        let working = thread::spawn(move || target.enter());
        let is_heard = sender.cancel();
        let has_heard = working.join().unwrap();
        assert!(is_heard || has_heard, "the worker works on for nobody");
    });
}
