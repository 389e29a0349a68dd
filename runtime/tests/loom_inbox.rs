//! Every interleaving of a shard and the threads that leave calls and departures in its inbox,
//! within the bounds of `explore`.
#![cfg(corelane_loom)]

#[path = "../../primitives/tests/models/explore.rs"]
mod explore;
#[path = "models/inbox.rs"]
mod inbox;

// proves: RT-3
#[test]
fn departure_brings_what_came_before() {
    inbox::departure_brings_what_came_before();
}

// proves: RT-3
#[test]
fn departures_of_two_threads_are_all_taken() {
    inbox::departures_of_two_threads_are_all_taken();
}

// proves: RT-3
#[test]
fn departure_nobody_takes_is_freed() {
    inbox::departure_nobody_takes_is_freed();
}

// proves: RT-3
#[test]
fn stopped_departure_takes_no_call_from_the_shard() {
    inbox::stopped_departure_takes_no_call_from_the_shard();
}

// proves: RT-3
#[test]
fn call_reaches_a_sleeping_shard() {
    inbox::call_reaches_a_sleeping_shard();
}

// proves: RT-3
#[test]
fn calls_and_departures_are_all_taken() {
    inbox::calls_and_departures_are_all_taken();
}

// proves: RT-3
#[test]
fn who_waits_for_room_is_woken_by_it() {
    inbox::who_waits_for_room_is_woken_by_it();
}

// proves: RT-3
#[test]
fn call_that_meets_the_end_is_dropped_once() {
    inbox::call_that_meets_the_end_is_dropped_once();
}

/// What is listed is what `loom_mutants.rs` runs.
#[test]
fn every_model_is_listed() {
    println!("models: {}", inbox::MODELS.len());
    assert_eq!(inbox::MODELS.len(), 8);
}
