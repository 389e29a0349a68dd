//! Every interleaving of what threads do to one lineage, within the bounds of `models`.
#![cfg(corelane_loom)]

mod models;

use models::arc;

#[test]
fn adopted_value_is_whole() {
    arc::adopted_value_is_whole();
}

// proves: TA-2
#[test]
fn racers_make_one_value() {
    arc::racers_make_one_value();
}

// proves: TA-4
#[test]
fn opposite_moves_carry_the_lineage() {
    arc::opposite_moves_carry_the_lineage();
}

// proves: TA-13
#[test]
fn last_handle_leaves_while_one_arrives() {
    arc::last_handle_leaves_while_one_arrives();
}

// proves: TA-13
#[test]
fn last_drop_sees_what_others_did() {
    arc::last_drop_sees_what_others_did();
}

// proves: TA-13
#[test]
fn reference_that_is_given_brings_what_was_seen() {
    arc::reference_that_is_given_brings_what_was_seen();
}

// proves: TA-13
#[test]
fn closed_partition_brings_what_was_seen() {
    arc::closed_partition_brings_what_was_seen();
}

// proves: TA-13
#[test]
fn last_partition_sees_what_others_did() {
    arc::last_partition_sees_what_others_did();
}

// proves: TA-5
#[test]
fn panicking_constructor_gives_way() {
    arc::panicking_constructor_gives_way();
}

// proves: TA-13
#[test]
fn upgrade_meets_last_drop() {
    arc::upgrade_meets_last_drop();
}

#[test]
fn weak_handle_outlives_the_values() {
    arc::weak_handle_outlives_the_values();
}

// proves: TA-9
#[test]
fn topology_is_appended_while_others_read() {
    arc::topology_is_appended_while_others_read();
}

// proves: TA-11
#[test]
fn storage_lends_while_it_grows() {
    arc::storage_lends_while_it_grows();
}

// proves: TA-12
#[test]
fn storages_first_inserts_race() {
    arc::storages_first_inserts_race();
}

// proves: TA-8
#[test]
fn eager_value_finds_one_home() {
    arc::eager_value_finds_one_home();
}

// proves: TA-6
#[test]
fn crossed_constructors_end() {
    arc::crossed_constructors_end();
}

// proves: TA-16
#[test]
fn hits_write_no_common_line() {
    arc::hits_write_no_common_line();
}

#[test]
fn every_model_is_listed() {
    println!("models: {}", arc::MODELS.len());
    let text = include_str!("loom_arc.rs");
    assert_eq!(text.matches("\n    arc::").count(), arc::MODELS.len());
    for (name, _) in arc::MODELS {
        assert!(
            text.contains(&format!("    arc::{name}();")),
            "{name} is not run"
        );
    }
}
