//! Every interleaving of sleep and wake, within the bounds of `models`.
#![cfg(corelane_loom)]

#[path = "models/alarm.rs"]
mod alarm;
mod models;
#[path = "models/park.rs"]
mod park;

#[test]
fn sleeper_is_rung_or_sees_the_message() {
    park::sleeper_is_rung_or_sees_the_message();
}

#[test]
fn parked_task_is_woken_or_sees_the_message() {
    park::parked_task_is_woken_or_sees_the_message();
}

// proves: W-1
#[test]
fn stopped_waker_hangs_nobody() {
    park::stopped_waker_hangs_nobody();
}

// proves: W-1
#[test]
fn two_wakers_ring_once_or_twice() {
    park::two_wakers_ring_once_or_twice();
}

#[test]
fn new_waker_takes_over() {
    park::new_waker_takes_over();
}

#[test]
fn parking_anew_races_with_a_late_mark() {
    park::parking_anew_races_with_a_late_mark();
}

// proves: W-2
#[test]
fn waking_an_awake_owner_scans_nothing() {
    park::waking_an_awake_owner_scans_nothing();
}

/// What is listed is what `loom_mutants.rs` runs.
#[test]
fn every_model_is_listed() {
    println!("models: {}", park::MODELS.len());
    assert_eq!(park::MODELS.len(), 7);
}
