//! Every interleaving of what threads do to one lineage, within the bounds of `models`.
#![cfg(corelane_loom)]

mod models;

use models::{life, making};

#[test]
fn adopted_value_is_whole() {
    making::adopted_value_is_whole();
}

// proves: TA-2
#[test]
fn racers_make_one_value() {
    making::racers_make_one_value();
}

// proves: TA-4
#[test]
fn opposite_moves_carry_the_lineage() {
    life::opposite_moves_carry_the_lineage();
}

// proves: TA-13
#[test]
fn last_handle_leaves_while_one_arrives() {
    life::last_handle_leaves_while_one_arrives();
}

// proves: TA-13
#[test]
fn last_drop_sees_what_others_did() {
    life::last_drop_sees_what_others_did();
}

// proves: TA-13
#[test]
fn reference_that_is_given_brings_what_was_seen() {
    life::reference_that_is_given_brings_what_was_seen();
}

// proves: TA-13
#[test]
fn spare_references_travel() {
    life::spare_references_travel();
}

// proves: TA-13
#[test]
fn closed_partition_brings_what_was_seen() {
    life::closed_partition_brings_what_was_seen();
}

// proves: TA-13
#[test]
fn last_partition_sees_what_others_did() {
    life::last_partition_sees_what_others_did();
}

// proves: TA-5
#[test]
fn panicking_constructor_gives_way() {
    making::panicking_constructor_gives_way();
}

// proves: TA-13
#[test]
fn upgrade_meets_last_drop() {
    life::upgrade_meets_last_drop();
}

#[test]
fn weak_handle_outlives_the_values() {
    life::weak_handle_outlives_the_values();
}

// proves: TA-9
#[test]
fn topology_is_appended_while_others_read() {
    making::topology_is_appended_while_others_read();
}

// proves: TA-11
#[test]
fn storage_lends_while_it_grows() {
    making::storage_lends_while_it_grows();
}

// proves: TA-12
#[test]
fn storages_first_inserts_race() {
    making::storages_first_inserts_race();
}

// proves: TA-8
#[test]
fn eager_value_finds_one_home() {
    making::eager_value_finds_one_home();
}

// proves: TA-6
#[test]
fn crossed_constructors_end() {
    making::crossed_constructors_end();
}

// proves: TA-16
#[test]
fn hits_write_no_common_line() {
    life::hits_write_no_common_line();
}

// proves: TA-16
#[test]
fn writes_do_not_grow_with_cores() {
    life::writes_do_not_grow_with_cores();
}

// proves: TA-10
#[test]
fn count_looks_once_at_each_partition() {
    life::count_looks_once_at_each_partition();
}

#[test]
fn every_model_is_listed() {
    let text = include_str!("loom_arc.rs");
    println!("models: {}", models::all().count());
    let run = text.matches("\n    life::").count() + text.matches("\n    making::").count();
    assert_eq!(run, models::all().count());
    for (name, _) in models::all() {
        assert!(text.contains(&format!("::{name}();")), "{name} is not run");
    }
}
