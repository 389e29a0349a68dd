//! Every interleaving of those who wait and those who make room, within the bounds of `models`.
#![cfg(corelane_loom)]

#[path = "models/bell.rs"]
mod bell;
mod models;
#[path = "models/waiters.rs"]
mod waiters;

#[test]
fn waiter_is_granted_or_sees_the_room() {
    waiters::waiter_is_granted_or_sees_the_room();
}

#[test]
fn two_waiters_both_get_room() {
    waiters::two_waiters_both_get_room();
}

#[test]
fn waiter_that_gives_up_passes_its_grant_on() {
    waiters::waiter_that_gives_up_passes_its_grant_on();
}

#[test]
fn waiter_whose_room_was_taken_waits_again() {
    waiters::waiter_whose_room_was_taken_waits_again();
}

// proves: W-2
#[test]
fn notifying_with_nobody_waiting_scans_nothing() {
    waiters::notifying_with_nobody_waiting_scans_nothing();
}

/// What is listed is what `loom_mutants.rs` runs.
#[test]
fn every_model_is_listed() {
    println!("models: {}", waiters::MODELS.len());
    assert_eq!(waiters::MODELS.len(), 5);
}
