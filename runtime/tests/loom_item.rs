//! Every interleaving of the two ends of a work item, within the bounds of `explore`.
#![cfg(corelane_loom)]

#[path = "../../primitives/tests/models/explore.rs"]
mod explore;
#[path = "models/item.rs"]
mod item;

// proves: RT-8
#[test]
fn answer_that_is_seen_is_whole() {
    item::answer_that_is_seen_is_whole();
}

// proves: RT-8
#[test]
fn answer_nobody_takes_is_dropped_once_and_whole() {
    item::answer_nobody_takes_is_dropped_once_and_whole();
}

// proves: RT-8
#[test]
fn call_that_ends_without_an_answer_is_freed_once() {
    item::call_that_ends_without_an_answer_is_freed_once();
}

// proves: RT-8
#[test]
fn cancel_meets_the_worker() {
    item::cancel_meets_the_worker();
}

/// What is listed is what `loom_mutants.rs` runs.
#[test]
fn every_model_is_listed() {
    println!("models: {}", item::MODELS.len());
    assert_eq!(item::MODELS.len(), 4);
}
