//! Every interleaving of senders and the receiver of a channel, within the bounds of `models`.
#![cfg(corelane_loom)]

#[path = "models/bell.rs"]
mod bell;
#[path = "models/channel.rs"]
mod channel;
#[path = "models/kept.rs"]
mod kept;
mod models;

// proves: C-1
#[test]
fn two_sends_share_one_place() {
    channel::two_sends_share_one_place();
}

// proves: W-1
#[test]
fn sleeping_receiver_is_woken_by_a_send() {
    channel::sleeping_receiver_is_woken_by_a_send();
}

// proves: C-5
#[test]
fn waiting_send_gets_a_place_that_was_emptied() {
    channel::waiting_send_gets_a_place_that_was_emptied();
}

// proves: C-6
#[test]
fn waiting_send_gets_a_place_that_was_not_used() {
    channel::waiting_send_gets_a_place_that_was_not_used();
}

// proves: C-6
#[test]
fn send_that_gives_up_passes_its_place_on() {
    channel::send_that_gives_up_passes_its_place_on();
}

// proves: C-6
#[test]
fn wait_for_two_places_ends_with_the_second() {
    channel::wait_for_two_places_ends_with_the_second();
}

// proves: C-4
#[test]
fn handle_of_two_threads_has_one_order() {
    channel::handle_of_two_threads_has_one_order();
}

// proves: C-3
#[test]
fn close_ends_a_waiting_send() {
    channel::close_ends_a_waiting_send();
}

// proves: C-3
#[test]
fn who_was_told_of_the_close_stays_told() {
    channel::who_was_told_of_the_close_stays_told();
}

// proves: C-3
#[test]
fn send_beside_a_close_is_received_or_refused() {
    channel::send_beside_a_close_is_received_or_refused();
}

// proves: C-3
#[test]
fn last_sender_ends_the_channel_behind_its_item() {
    channel::last_sender_ends_the_channel_behind_its_item();
}

/// What is listed is what `loom_mutants.rs` runs.
#[test]
fn every_model_is_listed() {
    println!("models: {}", channel::MODELS.len());
    assert_eq!(channel::MODELS.len(), 11);
}
