//! Every interleaving of a topic's publishers and feeds, within the bounds of `models`.
#![cfg(corelane_loom)]

#[path = "models/bell.rs"]
mod bell;
#[path = "models/topic.rs"]
mod topic;

// proves: S-9
#[test]
fn copied_nodes_are_reused() {
    topic::copied_nodes_are_reused();
}

// proves: T-1
// proves: S-9
#[test]
fn coming_feed_is_seen_or_starts_behind() {
    topic::coming_feed_is_seen_or_starts_behind();
}

// proves: T-8
#[test]
fn newest_values_are_read_whole() {
    topic::newest_values_are_read_whole();
}

// proves: T-8
#[test]
fn oldest_values_are_kept() {
    topic::oldest_values_are_kept();
}

#[test]
fn leaving_feed_leaves_no_value_behind() {
    topic::leaving_feed_leaves_no_value_behind();
}

// proves: T-2
#[test]
fn two_publishers_have_one_order() {
    topic::two_publishers_have_one_order();
}

#[test]
fn handle_of_two_threads_keeps_one_node() {
    topic::handle_of_two_threads_keeps_one_node();
}

// proves: W-1
// proves: T-7
#[test]
fn waiting_feed_is_woken() {
    topic::waiting_feed_is_woken();
}

// proves: S-11
#[test]
fn duty_is_handed_on() {
    topic::duty_is_handed_on();
}

// proves: T-9
#[test]
fn closing_is_one_step() {
    topic::closing_is_one_step();
}

// proves: T-9
#[test]
fn closing_wakes_a_waiting_feed() {
    topic::closing_wakes_a_waiting_feed();
}

#[test]
fn waiting_publisher_is_woken() {
    topic::waiting_publisher_is_woken();
}

// proves: S-9
#[test]
fn moving_feed_keeps_its_limit() {
    topic::moving_feed_keeps_its_limit();
}

#[test]
fn last_window_goes() {
    topic::last_window_goes();
}

/// What is listed is what `loom_mutants.rs` runs.
#[test]
fn every_model_is_listed() {
    println!("models: {}", topic::MODELS.len());
    assert_eq!(topic::MODELS.len(), 14);
}
