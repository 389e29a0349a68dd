//! Every interleaving of a target that hands items back and the sender that takes them, within the
//! bounds of `explore`.
#![cfg(corelane_loom)]

#[path = "../../primitives/tests/models/explore.rs"]
mod explore;
#[path = "models/returns.rs"]
mod returns;

// proves: RT-7
#[test]
fn items_come_back_with_their_answers() {
    returns::items_come_back_with_their_answers();
}

// proves: RT-7
#[test]
fn chains_come_back_in_order() {
    returns::chains_come_back_in_order();
}

// proves: RT-7
#[test]
fn items_nobody_takes_are_dropped_once() {
    returns::items_nobody_takes_are_dropped_once();
}

/// What is listed is what `loom_mutants.rs` runs.
#[test]
fn every_model_is_listed() {
    println!("models: {}", returns::MODELS.len());
    assert_eq!(returns::MODELS.len(), 3);
}
