//! Every interleaving of producers and the consumer of a `Ring64`, within the bounds of `models`.
#![cfg(corelane_loom)]

#[path = "models/bell.rs"]
mod bell;
mod models;
#[path = "models/reached.rs"]
mod reached;
#[path = "models/ring64.rs"]
mod ring64;

#[test]
fn slot_changes_hands_both_ways() {
    ring64::slot_changes_hands_both_ways();
}

#[test]
fn producers_share_what_one_has_seen_of_the_head() {
    ring64::producers_share_what_one_has_seen_of_the_head();
}

// proves: F-6
#[test]
fn fold_takes_whole_values() {
    ring64::fold_takes_whole_values();
}

// proves: F-6
// proves: F-7
#[test]
fn values_of_two_producers_keep_their_orders() {
    ring64::values_of_two_producers_keep_their_orders();
}

// proves: F-10
#[test]
fn sleeping_consumer_is_woken() {
    ring64::sleeping_consumer_is_woken();
}

// proves: F-10
#[test]
fn consumer_that_was_busy_sleeps_and_is_woken() {
    ring64::consumer_that_was_busy_sleeps_and_is_woken();
}

// proves: F-10
#[test]
fn claim_given_up_wakes_for_what_stands_behind() {
    ring64::claim_given_up_wakes_for_what_stands_behind();
}

#[test]
fn last_producer_ends_the_wait_after_its_values() {
    ring64::last_producer_ends_the_wait_after_its_values();
}

// proves: F-11
#[test]
fn first_producer_of_a_shard_wakes() {
    ring64::first_producer_of_a_shard_wakes();
}

// proves: F-8
#[test]
fn place_is_filled_or_stepped_over() {
    ring64::place_is_filled_or_stepped_over();
}

// proves: F-10
#[test]
fn push_that_waits_is_granted_the_room() {
    ring64::push_that_waits_is_granted_the_room();
}

// proves: W-2
#[test]
fn push_to_a_busy_consumer_scans_nothing() {
    ring64::push_to_a_busy_consumer_scans_nothing();
}

/// What is listed is what `loom_mutants.rs` runs.
#[test]
fn every_model_is_listed() {
    println!("models: {}", ring64::MODELS.len());
    assert_eq!(ring64::MODELS.len(), 12);
}
