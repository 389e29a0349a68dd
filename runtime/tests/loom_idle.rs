//! Every interleaving of shards that drain and one that looks whether anything is left, within the
//! bounds of `explore`.
#![cfg(corelane_loom)]

#[path = "../../primitives/tests/models/explore.rs"]
mod explore;
#[path = "models/idle.rs"]
mod idle;

// proves: RT-23
#[test]
fn call_that_became_a_task_is_seen() {
    idle::call_that_became_a_task_is_seen();
}

// proves: RT-23
#[test]
fn task_of_a_task_that_ended_is_seen() {
    idle::task_of_a_task_that_ended_is_seen();
}

// proves: RT-23
#[test]
fn departure_of_a_task_that_ended_is_seen() {
    idle::departure_of_a_task_that_ended_is_seen();
}

// proves: RT-23
#[test]
fn task_that_a_departed_value_left_is_seen() {
    idle::task_that_a_departed_value_left_is_seen();
}

/// What is listed is what `loom_mutants.rs` runs.
#[test]
fn every_model_is_listed() {
    println!("models: {}", idle::MODELS.len());
    assert_eq!(idle::MODELS.len(), 4);
}
