//! Continuous integration runs what the repository ships.

use crate::tree::{Tree, assert_clean, assert_fires};

const SCRIPT: &str = ".ci/run";
const EXAMPLES: &str = "examples/src/bin/";

/// Example programs, by name, that the script never starts.
fn examples_left_out(tree: &Tree) -> Vec<String> {
    let script = tree.text(SCRIPT);
    let runs = |name: &str| {
        let code = script
            .lines()
            .filter(|line| !line.trim_start().starts_with('#'));
        let mut words =
            code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '-'));
        words.any(|word| word == name)
    };
    let paths = tree
        .files
        .iter()
        .filter_map(|file| file.path.strip_prefix(EXAMPLES));
    let names = paths.filter_map(|path| {
        path.strip_suffix("/main.rs")
            .or_else(|| path.strip_suffix(".rs").filter(|n| !n.contains('/')))
    });
    names
        .filter(|name| !runs(name))
        .map(|name| format!("{SCRIPT} does not run the example {name}"))
        .collect()
}

#[test]
fn every_example_runs() {
    assert_clean("examples outside CI", &examples_left_out(&Tree::checkout()));
}

#[test]
fn readme_test_command_runs_first() {
    let tree = Tree::checkout();
    let cargo = tree.text(SCRIPT).lines().map(str::trim);
    let mut stages = cargo.filter(|line| line.starts_with("stage "));
    let first = stages.next().expect("the script has stages");
    assert!(
        first.ends_with("cargo test --workspace"),
        "the first stage is: {first}"
    );
    assert!(tree.text("README.md").contains("cargo test --workspace"));
}

#[test]
fn example_rule_fires() {
    let tree = Tree::sample(&[
        (
            SCRIPT,
            "example tcp-echo --check\n# example lost\nexample feedback\n",
        ),
        ("examples/src/bin/tcp-echo.rs", ""),
        ("examples/src/bin/lost.rs", ""),
        ("examples/src/bin/feed/main.rs", ""),
        ("examples/src/bin/feed/book.rs", ""),
    ]);
    assert_fires(&examples_left_out(&tree), &["example lost", "example feed"]);
}
