//! Every interleaving of senders and the target whose doorbells they ring, within the bounds of
//! `explore`.
#![cfg(corelane_loom)]

#[path = "models/doorbells.rs"]
mod doorbells;
#[path = "../../primitives/tests/models/explore.rs"]
mod explore;

// proves: RT-7
#[test]
fn bit_shows_its_news_at_once() {
    doorbells::bit_shows_its_news_at_once();
}

// proves: RT-7
#[test]
fn news_behind_a_clear_are_taken() {
    doorbells::news_behind_a_clear_are_taken();
}

// proves: RT-7
#[test]
fn two_senders_ring_one_target() {
    doorbells::two_senders_ring_one_target();
}

/// What is listed is what `loom_mutants.rs` runs.
#[test]
fn every_model_is_listed() {
    println!("models: {}", doorbells::MODELS.len());
    assert_eq!(doorbells::MODELS.len(), 3);
}
