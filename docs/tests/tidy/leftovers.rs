//! Nothing unfinished, nothing silenced, nothing of one person's machine.

use crate::{
    tokens::{find, flat},
    tree::{Tree, assert_clean, assert_fires},
};

/// Token sequences that never pass, and what each one is.
const BANNED: [(&[&str], &str); 5] = [
    (&["#", "[", "ignore"], "an ignored test"),
    (&["todo", "!"], "unfinished code"),
    (&["unimplemented", "!"], "unfinished code"),
    (&["allow", "(", "dead_code"], "dead code, silenced"),
    (&["dbg", "!"], "a debugging aid"),
];

fn banned(tree: &Tree) -> Vec<String> {
    let mut offenders = Vec::new();
    for file in tree.rust() {
        let tokens = flat(file);
        for (pattern, what) in BANNED {
            for at in find(&tokens, pattern) {
                offenders.push(format!("{}:{}: {what}", file.path, tokens[at].line));
            }
        }
    }
    offenders
}

/// Examples in documents and doc comments that are never compiled.
fn skipped_examples(tree: &Tree) -> Vec<String> {
    let mut offenders = Vec::new();
    for file in tree
        .files
        .iter()
        .filter(|file| file.is_rust() || file.path.ends_with(".md"))
    {
        for (number, line) in file.lines() {
            let line = line.trim_start_matches(['/', '!', ' ']);
            let fence = line.strip_prefix("```").unwrap_or_default();
            if fence.split(',').any(|word| word.trim() == "ignore") {
                offenders.push(format!(
                    "{}:{number}: an example nobody compiles",
                    file.path
                ));
            }
        }
    }
    offenders
}

/// Absolute paths that exist on one machine only.
fn private_paths(tree: &Tree) -> Vec<String> {
    // Put together here, so that this file does not offend itself.
    let prefixes = [
        concat!("/ro", "ot/"),
        concat!("/wo", "rk/"),
        concat!("/ho", "me/"),
        concat!("/tmp/", "wt"),
    ];
    let mut offenders = Vec::new();
    for file in &tree.files {
        for (number, line) in file.lines() {
            for prefix in prefixes.iter().filter(|prefix| line.contains(**prefix)) {
                offenders.push(format!("{}:{number}: path below {prefix}", file.path));
            }
        }
    }
    offenders
}

#[test]
fn nothing_is_unfinished_or_silenced() {
    assert_clean("leftovers", &banned(&Tree::checkout()));
}

#[test]
fn every_example_is_compiled() {
    assert_clean(
        "examples that are skipped",
        &skipped_examples(&Tree::checkout()),
    );
}

#[test]
fn no_path_of_one_machine() {
    assert_clean("private paths", &private_paths(&Tree::checkout()));
}

#[test]
fn leftover_rule_fires() {
    let text = "#[test]\n#[ignore]\nfn f() { todo!() }\n#[allow(dead_code)]\n\
                fn g() { unimplemented!(\"x\"); dbg!(1); }";
    let tree = Tree::sample(&[
        ("a.rs", text),
        ("b.rs", "// todo!\nconst S: &str = \"dbg!\";"),
    ]);
    let wanted = [
        "a.rs:2: an ignored",
        "a.rs:3",
        "a.rs:5",
        "a.rs:4: dead code",
        "a.rs:5: a debug",
    ];
    assert_fires(&banned(&tree), &wanted);
}

#[test]
fn example_rule_fires() {
    let text = "/// ```rust,ignore\n/// ```\n//! ```ignore\n/// ```no_run\n// ignore";
    let tree = Tree::sample(&[("a.rs", text), ("b.md", "```ignore\n```\n```sh\n```")]);
    assert_fires(&skipped_examples(&tree), &["a.rs:1", "a.rs:3", "b.md:1"]);
}

#[test]
fn path_rule_fires() {
    let text = format!("see {}x and /var/lib", concat!("/ro", "ot/"));
    let tree = Tree::sample(&[("a.md", &text)]);
    assert_fires(&private_paths(&tree), &["a.md:1"]);
}
