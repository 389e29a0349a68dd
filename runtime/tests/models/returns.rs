//! Models of the returns: items come back whole, in order, each once.

use crate::explore::explore;
use corelane::model::Returns;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use std::sync::Arc;

/// Name and model, in the order in which mutants meet them.
pub(crate) const MODELS: &[(&str, fn())] = &[
    (
        "items_come_back_with_their_answers",
        items_come_back_with_their_answers,
    ),
    ("chains_come_back_in_order", chains_come_back_in_order),
    (
        "items_nobody_takes_are_dropped_once",
        items_nobody_takes_are_dropped_once,
    ),
];

/// An item whose answer is stored before it is sent. Relaxed: the returns alone order it.
struct Item {
    number: usize,
    answer: Arc<AtomicUsize>,
}

impl Item {
    fn new(number: usize) -> Self {
        let answer = Arc::new(AtomicUsize::new(0));
        Self { number, answer }
    }

    fn answered(self) -> Self {
        self.answer.store(self.number + 100, Ordering::Relaxed);
        self
    }

    /// The item's number, once its answer was seen.
    fn number(&self) -> usize {
        assert_eq!(self.answer.load(Ordering::Relaxed), self.number + 100);
        self.number
    }
}

/// Publishes one chain after the other on a thread of its own, and takes until all have come.
fn take_all(chains: &'static [&'static [usize]]) {
    let returns = Arc::new(Returns::new());
    let target = returns.clone();
    let items: Vec<Vec<_>> = chains
        .iter()
        .map(|chain| chain.iter().map(|&number| Item::new(number)).collect())
        .collect();
    let answering = thread::spawn(move || {
        for chain in items {
            target.publish(chain.into_iter().map(Item::answered));
        }
    });
    let mut numbers: Vec<_> = returns.take().iter().map(Item::number).collect();
    numbers.extend(returns.take().iter().map(Item::number));
    answering.join().unwrap();
    numbers.extend(returns.take().iter().map(Item::number));
    assert_eq!(numbers, chains.concat());
}

pub(crate) fn items_come_back_with_their_answers() {
    explore(|| take_all(&[&[1]]));
}

pub(crate) fn chains_come_back_in_order() {
    explore(|| take_all(&[&[1, 2], &[3], &[4, 5]]));
}

pub(crate) fn items_nobody_takes_are_dropped_once() {
    explore(|| {
        let held = Arc::new(());
        let returns = Arc::new(Returns::new());
        let (target, given) = (returns.clone(), held.clone());
        let answering = thread::spawn(move || {
            for _ in 0..2 {
                target.publish([given.clone(), given.clone()]);
            }
        });
        let taken = returns.take().len();
        assert!([0, 2, 4].contains(&taken));
        answering.join().unwrap();
        assert_eq!(Arc::strong_count(&held), 5 - taken);
        drop(returns);
        assert_eq!(Arc::strong_count(&held), 1);
    });
}
