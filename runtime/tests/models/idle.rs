//! Models of the end of draining: a runtime with something left to do does not find itself idle.

use crate::explore::explore;
use corelane::model::{Home, Shard, is_idle};
use loom::thread;
use std::sync::Arc;
use std::task::Waker;

/// Name and model, in the order in which mutants meet them.
pub(crate) const MODELS: &[(&str, fn())] = &[
    (
        "call_that_became_a_task_is_seen",
        call_that_became_a_task_is_seen,
    ),
    (
        "task_of_a_task_that_ended_is_seen",
        task_of_a_task_that_ended_is_seen,
    ),
    (
        "departure_of_a_task_that_ended_is_seen",
        departure_of_a_task_that_ended_is_seen,
    ),
    (
        "task_that_a_departed_value_left_is_seen",
        task_that_a_departed_value_left_is_seen,
    ),
];

/// A value whose drop spawns a task that never ends.
struct Leaves(Arc<[Shard]>);

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0[0].spawned();
    }
}

fn shards(count: usize) -> Arc<[Shard]> {
    (0..count).map(|_| Shard::new(1)).collect()
}

/// A thread that looks, as who drains does. It is spawned behind the others: loom lets none run
/// ahead of a plain load that has been made.
fn looking(shards: &Arc<[Shard]>) {
    let shards = shards.clone();
    thread::spawn(move || assert!(!is_idle(&shards)));
}

pub(crate) fn call_that_became_a_task_is_seen() {
    explore(|| {
        let shards = shards(1);
        let spawning = shards.clone();
        let job = Box::new(move || spawning[0].spawned());
        shards[0].put(job, Waker::noop(), || ()).unwrap();
        let working = shards.clone();
        thread::spawn(move || working[0].work(&Home::new()));
        looking(&shards);
    });
}

pub(crate) fn task_of_a_task_that_ended_is_seen() {
    explore(|| {
        let shards = shards(1);
        shards[0].spawned();
        let working = shards.clone();
        thread::spawn(move || {
            working[0].spawned();
            working[0].ended();
        });
        looking(&shards);
    });
}

/// The home never takes it.
pub(crate) fn departure_of_a_task_that_ended_is_seen() {
    explore(|| {
        let (shards, home) = (shards(2), Home::new());
        let leaving = home.take_in(());
        shards[1].spawned();
        let other = shards.clone();
        thread::spawn(move || {
            other[0].depart(leaving, || ());
            other[1].ended();
        });
        looking(&shards);
    });
}

pub(crate) fn task_that_a_departed_value_left_is_seen() {
    explore(|| {
        let (shards, home) = (shards(2), Home::new());
        let leaving = home.take_in(Leaves(shards.clone()));
        shards[1].spawned();
        let other = shards.clone();
        thread::spawn(move || {
            other[0].depart(leaving, || ());
            other[1].ended();
        });
        looking(&shards);
        shards[0].work(&home);
    });
}
