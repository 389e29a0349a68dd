//! Every interleaving of a lane's two ends, within the bounds of `models`.
#![cfg(corelane_loom)]

#[path = "models/alarm.rs"]
mod alarm;
#[path = "models/lane.rs"]
mod lane;
mod models;

#[test]
fn values_pass_in_order_through_reused_slots() {
    lane::values_pass_in_order_through_reused_slots();
}

#[test]
fn staged_values_become_visible_together() {
    lane::staged_values_become_visible_together();
}

#[test]
fn chunk_becomes_visible_whole() {
    lane::chunk_becomes_visible_whole();
}

// proves: L-3
#[test]
fn leaving_producer_is_seen_after_its_values() {
    lane::leaving_producer_is_seen_after_its_values();
}

#[test]
fn parked_consumer_is_woken() {
    lane::parked_consumer_is_woken();
}

#[test]
fn parked_producer_is_woken() {
    lane::parked_producer_is_woken();
}

#[test]
fn ends_that_never_notify_do_not_sleep_together() {
    lane::ends_that_never_notify_do_not_sleep_together();
}

// proves: L-3
#[test]
fn leaving_end_wakes_the_other() {
    lane::leaving_end_wakes_the_other();
}

// proves: L-2
// proves: L-5
#[test]
fn values_left_inside_are_dropped_once() {
    lane::values_left_inside_are_dropped_once();
}

// proves: W-1
#[test]
fn wait_taken_back_is_not_rung() {
    lane::wait_taken_back_is_not_rung();
}

// proves: L-1
#[test]
fn push_and_pop_take_at_most_two_steps() {
    lane::push_and_pop_take_at_most_two_steps();
}

/// What is listed is what `loom_mutants.rs` runs.
#[test]
fn every_model_is_listed() {
    println!("models: {}", lane::MODELS.len());
    assert_eq!(lane::MODELS.len(), 11);
}
