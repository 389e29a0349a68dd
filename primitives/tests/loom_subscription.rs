//! Every interleaving of those who change a subscription and its feeds, within the bounds of
//! `models`.
#![cfg(corelane_loom)]

#[path = "models/bell.rs"]
mod bell;
mod models;
#[path = "models/subscription.rs"]
mod subscription;

// proves: S-2
#[test]
fn coming_feed_of_a_subscription_misses_nothing() {
    subscription::coming_feed_of_a_subscription_misses_nothing();
}

// proves: S-9
#[test]
fn two_changes_are_in_every_feed_in_one_order() {
    subscription::two_changes_are_in_every_feed_in_one_order();
}

// proves: S-11
#[test]
fn feed_of_a_subscription_is_woken() {
    subscription::feed_of_a_subscription_is_woken();
}

// proves: S-7
#[test]
fn last_value_comes_behind_every_change() {
    subscription::last_value_comes_behind_every_change();
}

// proves: S-9
#[test]
fn failing_feed_and_its_writer_agree() {
    subscription::failing_feed_and_its_writer_agree();
}

/// What is listed is what `loom_mutants.rs` runs.
#[test]
fn every_model_is_listed() {
    println!("models: {}", subscription::MODELS.len());
    assert_eq!(subscription::MODELS.len(), 5);
}
