//! Every interleaving of a ring's producers and its consumer, within the bounds of `models`.
#![cfg(corelane_loom)]

#[path = "models/bell.rs"]
mod bell;
#[path = "models/claim.rs"]
mod claim;
#[path = "models/kept.rs"]
mod kept;
mod models;
#[path = "models/reached.rs"]
mod reached;

// proves: F-6
#[test]
fn values_pass_once_through_reused_slots() {
    claim::values_pass_once_through_reused_slots();
}

// proves: F-6
// proves: F-7
#[test]
fn two_producers_claim_two_places() {
    claim::two_producers_claim_two_places();
}

// proves: F-8
#[test]
fn late_publisher_races_with_the_step_over() {
    claim::late_publisher_races_with_the_step_over();
}

// proves: F-8
#[test]
fn push_that_is_stepped_over_claims_again() {
    claim::push_that_is_stepped_over_claims_again();
}

// proves: F-8
#[test]
fn step_over_by_a_producer_races_with_the_consumer() {
    claim::step_over_by_a_producer_races_with_the_consumer();
}

// proves: F-10
#[test]
fn sleeping_consumer_is_woken() {
    claim::sleeping_consumer_is_woken();
}

// proves: F-10
#[test]
fn waiting_push_gets_the_room() {
    claim::waiting_push_gets_the_room();
}

// proves: F-8
// proves: F-10
#[test]
fn dropped_claim_wakes_who_sleeps_behind_it() {
    claim::dropped_claim_wakes_who_sleeps_behind_it();
}

#[test]
fn leaving_consumer_drops_every_value_once() {
    claim::leaving_consumer_drops_every_value_once();
}

// proves: F-8
#[test]
fn age_is_never_too_high() {
    claim::age_is_never_too_high();
}

// proves: W-2
#[test]
fn push_with_nobody_asleep_scans_nothing() {
    claim::push_with_nobody_asleep_scans_nothing();
}

/// What is listed is what `loom_mutants.rs` runs.
#[test]
fn every_model_is_listed() {
    println!("models: {}", claim::MODELS.len());
    assert_eq!(claim::MODELS.len(), 11);
}
