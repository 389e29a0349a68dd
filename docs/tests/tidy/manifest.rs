//! Every shared dependency has its reason beside it and a member that uses it.

use crate::tree::{Tree, assert_clean, assert_fires};

/// The entries of `[workspace.dependencies]`: key and line, without our own packages.
fn shared(manifest: &str) -> Vec<(&str, &str)> {
    let table = manifest
        .lines()
        .skip_while(|line| *line != "[workspace.dependencies]")
        .skip(1);
    let entries = table.take_while(|line| !line.starts_with('['));
    let entries = entries.filter(|line| !line.starts_with('#') && !line.contains("path = "));
    entries
        .filter_map(|line| Some((line.split_once('=')?.0.trim(), line)))
        .collect()
}

/// Shared dependencies without a comment on their line.
fn unexplained(tree: &Tree) -> Vec<String> {
    let entries = shared(tree.text("Cargo.toml")).into_iter();
    let bare = entries.filter(|(_, line)| {
        line.rsplit_once(" # ")
            .is_none_or(|(_, reason)| reason.trim().is_empty())
    });
    bare.map(|(key, _)| format!("Cargo.toml: {key} has no reason beside it"))
        .collect()
}

/// Shared dependencies that no member names.
fn unused(tree: &Tree) -> Vec<String> {
    let members = tree
        .files
        .iter()
        .filter(|file| file.path.ends_with("/Cargo.toml"));
    let members: Vec<&str> = members.flat_map(|file| file.text.lines()).collect();
    let names = |line: &str, key: &str| {
        line.strip_prefix(key)
            .is_some_and(|rest| rest.starts_with(".workspace") || rest.contains("workspace = true"))
    };
    let entries = shared(tree.text("Cargo.toml")).into_iter();
    let idle = entries.filter(|(key, _)| !members.iter().any(|line| names(line, key)));
    idle.map(|(key, _)| format!("Cargo.toml: no member uses {key}"))
        .collect()
}

#[test]
fn every_dependency_has_its_reason() {
    assert_clean(
        "dependencies without a reason",
        &unexplained(&Tree::checkout()),
    );
}

#[test]
fn every_dependency_is_used() {
    assert_clean("dependencies without a user", &unused(&Tree::checkout()));
}

#[test]
fn rules_find_the_entries() {
    let tree = Tree::checkout();
    let entries = shared(tree.text("Cargo.toml"));
    assert!(
        entries.iter().any(|(key, _)| *key == "io-uring"),
        "{entries:?}"
    );
}

#[test]
fn both_rules_fire() {
    let root = "[workspace.dependencies]\n# Ours.\nours = { path = \"ours\" }\n\
                bare = \"1\"\nidle = \"1\" # why\nused = \"1\" # why\n[profile.release]\nx = 1";
    let member = "[dependencies]\nbare.workspace = true\n\
                  used = { workspace = true, features = [\"std\"] }";
    let tree = Tree::sample(&[("Cargo.toml", root), ("a/Cargo.toml", member)]);
    assert_fires(&unexplained(&tree), &["bare has no reason"]);
    assert_fires(&unused(&tree), &["no member uses idle"]);
}
