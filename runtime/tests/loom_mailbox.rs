//! Every interleaving of wakers and the shard whose mailbox they use, within the bounds of
//! `explore`.
#![cfg(corelane_loom)]

#[path = "../../primitives/tests/models/explore.rs"]
mod explore;
#[path = "models/mailbox.rs"]
mod mailbox;

// proves: RT-3
#[test]
fn wake_reaches_a_sleeping_shard() {
    mailbox::wake_reaches_a_sleeping_shard();
}

// proves: RT-3
#[test]
fn wakers_of_one_word_lose_nothing() {
    mailbox::wakers_of_one_word_lose_nothing();
}

// proves: RT-3
#[test]
fn wakers_of_two_words_lose_nothing() {
    mailbox::wakers_of_two_words_lose_nothing();
}

// proves: RT-3
#[test]
fn task_that_is_woken_again_runs_again() {
    mailbox::task_that_is_woken_again_runs_again();
}

// proves: RT-3
#[test]
fn stopped_waker_takes_no_wake_from_another() {
    mailbox::stopped_waker_takes_no_wake_from_another();
}

/// What is listed is what `loom_mutants.rs` runs.
#[test]
fn every_model_is_listed() {
    println!("models: {}", mailbox::MODELS.len());
    assert_eq!(mailbox::MODELS.len(), 5);
}
