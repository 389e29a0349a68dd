//! Every interleaving of those who set and read a signal, within the bounds of `models`.
#![cfg(corelane_loom)]

#[path = "models/bell.rs"]
mod bell;
mod models;
#[path = "models/signal.rs"]
mod signal;

// proves: S-12
// proves: S-14
// proves: S-15
#[test]
fn plain_values_are_read_whole() {
    signal::plain_values_are_read_whole();
}

// proves: S-12
// proves: S-15
#[test]
fn torn_words_are_not_looked_at() {
    signal::torn_words_are_not_looked_at();
}

// proves: S-12
// proves: S-15
#[test]
fn slot_of_another_writer_is_not_taken_for_the_old_one() {
    signal::slot_of_another_writer_is_not_taken_for_the_old_one();
}

// proves: S-14
#[test]
fn shared_values_come_with_their_version() {
    signal::shared_values_come_with_their_version();
}

// proves: S-10
#[test]
fn plain_updates_are_atomic() {
    signal::plain_updates_are_atomic();
}

// proves: S-10
#[test]
fn shared_updates_are_atomic() {
    signal::shared_updates_are_atomic();
}

// proves: S-11
#[test]
fn waiting_feed_is_woken() {
    signal::waiting_feed_is_woken();
}

// proves: S-11
#[test]
fn duty_is_handed_on() {
    signal::duty_is_handed_on();
}

// proves: S-7
#[test]
fn closing_delivers_the_last_value() {
    signal::closing_delivers_the_last_value();
}

// proves: W-2
#[test]
fn set_takes_no_step_too_many() {
    signal::set_takes_no_step_too_many();
}

// proves: S-11
#[test]
fn stream_left_alone_keeps_nobody_asleep() {
    signal::stream_left_alone_keeps_nobody_asleep();
}

// proves: S-5
// proves: S-14
// proves: S-15
#[test]
fn plain_replicas_see_what_was_acknowledged() {
    signal::plain_replicas_see_what_was_acknowledged();
}

// proves: S-5
// proves: S-14
#[test]
fn shared_replicas_see_what_was_acknowledged() {
    signal::shared_replicas_see_what_was_acknowledged();
}

/// What is listed is what `loom_mutants.rs` runs.
#[test]
fn every_model_is_listed() {
    println!("models: {}", signal::MODELS.len());
    assert_eq!(signal::MODELS.len(), 13);
}
