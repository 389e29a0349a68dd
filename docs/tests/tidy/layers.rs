//! Crates depend in one direction, and none of the four libraries pulls in tokio.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use crate::tree::{Tree, assert_clean, assert_fires, root};

/// The libraries, lowest first: each may use those before it.
const LIBRARIES: [&str; 4] = [
    "corelane-thread-aware",
    "corelane-primitives",
    "corelane",
    "corelane-net",
];

/// Packages that depend on none of ours, and who alone may use each.
const PARTS: [(&str, &[&str]); 4] = [
    ("corelane-thread-aware-derive", &["corelane-thread-aware"]),
    ("corelane-macros", &["corelane"]),
    (
        "corelane-bench-harness",
        &["corelane-benches", "corelane-bench-peers"],
    ),
    ("corelane-bench-peers", &[]),
];

/// Packages above the libraries, which use them and not one another.
const TOP: [&str; 8] = [
    "corelane-examples",
    "corelane-benches",
    "corelane-compat-ours",
    "corelane-compat-published",
    "corelane-docs",
    "corelane-contract",
    "corelane-contract-glommio",
    "corelane-thread-aware-alone",
];

/// One package and the names of the workspace's packages that it depends on.
#[derive(Debug)]
struct Package {
    name: String,
    /// In any table.
    ours: Vec<String>,
    /// For its tests alone.
    in_tests: Vec<String>,
}

fn packages(tree: &Tree) -> Vec<Package> {
    let root = parse("Cargo.toml", tree.text("Cargo.toml"));
    let shared = renamed(&root["workspace"]["dependencies"]);
    let manifests = tree
        .files
        .iter()
        .filter(|file| file.path.ends_with("/Cargo.toml"));
    let manifests = manifests.map(|file| parse(&file.path, &file.text));
    let members = manifests.filter(|manifest| manifest.contains_key("package"));
    let members: Vec<toml::Table> = members.collect();
    let name = |manifest: &toml::Table| {
        manifest["package"]["name"]
            .as_str()
            .expect("a name")
            .to_owned()
    };
    let all: Vec<String> = members.iter().map(name).collect();
    let own = |manifest: &toml::Table, tables: &[&str]| {
        let mut names = Vec::new();
        dependencies(manifest, tables, &shared, &mut names);
        names.retain(|name| all.contains(name));
        names
    };
    members
        .iter()
        .map(|manifest| Package {
            name: name(manifest),
            ours: own(manifest, &TABLES),
            in_tests: own(manifest, &TABLES[2..])
                .into_iter()
                .filter(|used| !own(manifest, &TABLES[..2]).contains(used))
                .collect(),
        })
        .collect()
}

fn parse(path: &str, text: &str) -> toml::Table {
    text.parse()
        .unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The package that each key of a dependency table stands for.
fn renamed(table: &toml::Value) -> BTreeMap<String, String> {
    let package = |key: &str, value: &toml::Value| {
        value
            .get("package")
            .and_then(toml::Value::as_str)
            .unwrap_or(key)
            .to_owned()
    };
    let table = table.as_table().expect("dependencies are a table");
    table
        .iter()
        .map(|(key, value)| (key.clone(), package(key, value)))
        .collect()
}

/// The tables of a manifest that name dependencies, the one for tests last.
const TABLES: [&str; 3] = ["dependencies", "build-dependencies", "dev-dependencies"];

/// The packages in `tables` of a manifest, for all targets. What a manifest takes from its
/// workspace is looked up in `shared`; a published package may have the name of one of ours there.
fn dependencies(
    table: &toml::Table,
    tables: &[&str],
    shared: &BTreeMap<String, String>,
    out: &mut Vec<String>,
) {
    let is_shared = |value: &toml::Value| value.get("workspace").is_some();
    for (key, value) in table {
        match (key.as_str(), value) {
            (key, value) if tables.contains(&key) => {
                for (key, package) in renamed(value) {
                    let name = shared.get(&key).filter(|_| is_shared(&value[&key]));
                    out.push(name.cloned().unwrap_or(package));
                }
            }
            ("target", toml::Value::Table(targets)) => {
                for target in targets.values().filter_map(toml::Value::as_table) {
                    dependencies(target, tables, shared, out);
                }
            }
            _ => {}
        }
    }
}

/// Dependencies against the direction, and packages without a place in it. A part may be tested
/// with what it is a part of.
fn directions(tree: &Tree) -> Vec<String> {
    let mut offenders = Vec::new();
    for package in packages(tree) {
        let place = LIBRARIES.iter().position(|name| *name == package.name);
        let part = PARTS.iter().find(|(name, _)| *name == package.name);
        let below = match place {
            Some(place) => &LIBRARIES[..place],
            None if TOP.contains(&package.name.as_str()) => &LIBRARIES[..],
            None if part.is_some() => &[],
            None => {
                offenders.push(format!("{} has no place among the layers", package.name));
                continue;
            }
        };
        for used in &package.ours {
            let users = PARTS
                .iter()
                .find(|(name, _)| name == used)
                .map_or(&[][..], |part| part.1);
            let tests_its_whole = package.in_tests.contains(used)
                && part.is_some_and(|(_, wholes)| wholes.contains(&used.as_str()));
            let allowed = below.contains(&used.as_str()) || users.contains(&package.name.as_str());
            if !allowed && !tests_its_whole {
                offenders.push(format!("{} must not depend on {used}", package.name));
            }
        }
    }
    offenders
}

/// Lines of a `cargo tree` listing that name tokio itself.
fn tokio_lines(listing: &str) -> Vec<String> {
    listing
        .lines()
        .filter(|line| line.starts_with("tokio v"))
        .map(Into::into)
        .collect()
}

#[test]
fn crates_depend_in_one_direction() {
    assert_clean("dependency direction", &directions(&Tree::checkout()));
}

/// What `cargo tree` says of a package's normal dependencies, a line each.
fn listing(package: &str, more: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "-e", "normal", "--prefix", "none"])
        .args(["-p", package])
        .args(more)
        .current_dir(root())
        .output()
        .expect("cargo ran this test, so it can run again");
    let listing = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && listing.starts_with(package),
        "{package}: {errors}"
    );
    listing.into_owned()
}

#[test]
fn libraries_hold_no_tokio() {
    for library in LIBRARIES {
        let listing = listing(library, &[]);
        assert_clean(&format!("tokio below {library}"), &tokio_lines(&listing));
    }
}

/// The names in a listing, without the package itself.
fn names(listing: &str) -> BTreeSet<&str> {
    let lines = listing.lines().skip(1);
    lines.filter_map(|line| line.split(' ').next()).collect()
}

#[test]
fn leaf_crate_needs_crossbeam_utils_and_its_derive() {
    let direct = listing("corelane-thread-aware", &["--depth", "1"]);
    let wanted = ["corelane-thread-aware-derive", "crossbeam-utils"];
    assert_eq!(names(&direct), BTreeSet::from(wanted));
    let all = listing("corelane-thread-aware", &[]);
    let derive = listing("corelane-thread-aware-derive", &[]);
    let rest: Vec<_> = names(&all).difference(&names(&derive)).copied().collect();
    assert_eq!(
        rest, wanted,
        "and nothing below them but what the derive needs"
    );
}

#[test]
fn example_of_the_leaf_crate_has_nothing_else_of_ours() {
    let listing = listing("corelane-thread-aware-alone", &[]);
    let ours = names(&listing)
        .into_iter()
        .filter(|name| name.starts_with("corelane"));
    let wanted = ["corelane-thread-aware", "corelane-thread-aware-derive"];
    assert_eq!(ours.collect::<Vec<_>>(), wanted);
}

#[test]
fn tokio_rule_fires() {
    let listing = "corelane v0.1.0\ntokio-util v0.7.1\ntokio v1.48.0\n";
    assert_fires(&tokio_lines(listing), &["tokio v1.48.0"]);
}

#[test]
fn direction_rule_fires() {
    let package = |name: &str, rest: &str| format!("[package]\nname = \"{name}\"\n{rest}");
    let up = package(
        "corelane-thread-aware",
        "[dev-dependencies]\ncorelane.workspace = true",
    );
    let target = "[target.'cfg(unix)'.dependencies]\nx = { package = \"corelane\", path = \"r\" }";
    let sideways = package("corelane-primitives", target);
    let down = package(
        "corelane",
        "[dependencies]\nta.workspace = true\ncorelane-macros = \"1\"",
    );
    let tree = Tree::sample(&[
        (
            "Cargo.toml",
            "[workspace.dependencies]\nta = { package = \"corelane-thread-aware\" }",
        ),
        ("a/Cargo.toml", &up),
        ("b/Cargo.toml", &sideways),
        ("c/Cargo.toml", &down),
        (
            "d/Cargo.toml",
            &package("corelane-macros", "[dependencies]\nta.workspace = true"),
        ),
        ("e/Cargo.toml", &package("stray", "")),
        (
            "f/Cargo.toml",
            &package(
                "corelane-thread-aware-derive",
                "[dev-dependencies]\nta.workspace = true\ncorelane = \"1\"",
            ),
        ),
    ]);
    let found = directions(&tree);
    let wanted = [
        "corelane-thread-aware must not depend on corelane",
        "corelane-primitives must not depend on corelane",
        "corelane-macros must not depend on corelane-thread-aware",
        "stray has no place",
        "corelane-thread-aware-derive must not depend on corelane",
    ];
    assert_fires(&found, &wanted);
    let tested = "corelane-thread-aware-derive must not depend on corelane-thread-aware";
    assert!(
        !found.iter().any(|offence| offence.contains(tested)),
        "{found:?}"
    );
}
