//! Unsafe code stands only in the modules of one list.

use crate::{
    tokens::{Token, find, flat},
    tree::{File, Tree, assert_clean, assert_fires},
};

/// The modules that may hold unsafe code. Each says in its header what pays for it.
const MODULES: [&str; 10] = [
    "thread_aware/src/arc",
    "primitives/src/lane",
    "primitives/src/claim",
    "primitives/src/topic",
    "primitives/src/park",
    "runtime/src/task",
    "runtime/src/driver",
    "runtime/src/io",
    "runtime/src/sys",
    "benches/peers/src/bare", // the limit that our loops are measured against, in its own workspace
];

fn is_listed(file: &File) -> bool {
    MODULES.iter().any(|module| file.is_in(module))
}

/// The word `unsafe` outside comments and strings, outside the listed modules.
fn unsafe_tokens(tree: &Tree) -> Vec<String> {
    let mut offenders = Vec::new();
    for file in tree.rust().filter(|file| !is_listed(file)) {
        let tokens = flat(file);
        for at in find(&tokens, &["unsafe"]).filter(|at| !is_pointer_type(&tokens[*at..])) {
            offenders.push(format!(
                "{}:{}: unsafe outside the list",
                file.path, tokens[at].line
            ));
        }
    }
    offenders
}

/// Whether `unsafe` begins the type of a function pointer, which does nothing by itself.
fn is_pointer_type(tokens: &[Token]) -> bool {
    let patterns: [&[&str]; 2] = [
        &["unsafe", "fn", "("],
        &["unsafe", "extern", "*", "fn", "("],
    ];
    patterns
        .iter()
        .any(|pattern| find(tokens, pattern).next() == Some(0))
}

/// Permissions for unsafe code that stand neither in a listed module nor on its `mod` line.
fn permissions(tree: &Tree) -> Vec<String> {
    let mut offenders = Vec::new();
    for file in tree.rust().filter(|file| !is_listed(file)) {
        let directory = file
            .path
            .rsplit_once('/')
            .map_or("", |(directory, _)| directory);
        let tokens = flat(file);
        for at in find(&tokens, &["*", "(", "unsafe_code"]) {
            if !["allow", "expect", "warn"].contains(&tokens[at].text.as_str()) {
                continue;
            }
            let mut rest = tokens[at..]
                .iter()
                .skip_while(|token| token.text != "mod")
                .skip(1);
            let named = rest
                .next()
                .map(|token| format!("{directory}/{}", token.text));
            let ends = rest.next().is_some_and(|token| token.text == ";");
            if !ends || !named.is_some_and(|module| MODULES.contains(&module.as_str())) {
                let line = tokens[at].line;
                offenders.push(format!("{}:{line}: unsafe code allowed here", file.path));
            }
        }
    }
    offenders
}

/// Roots of libraries and programs without the lint level that belongs there.
fn roots(tree: &Tree) -> Vec<String> {
    let mut offenders = Vec::new();
    for file in tree.rust().filter(|file| is_root(&file.path)) {
        let package = file.path.split("/src/").next().unwrap_or_default();
        let source = format!("{package}/src/");
        let has_list = file.path.ends_with("/src/lib.rs")
            && MODULES.iter().any(|module| module.starts_with(&source));
        let level = if has_list { "deny" } else { "forbid" };
        let tokens = flat(file);
        let wanted = ["#", "!", "[", level, "(", "unsafe_code", ")", "]"];
        if find(&tokens, &wanted).next().is_none() {
            offenders.push(format!("{}: lacks #![{level}(unsafe_code)]", file.path));
        }
    }
    offenders
}

fn is_root(path: &str) -> bool {
    let Some((_, inside)) = path.rsplit_once("/src/") else {
        return false;
    };
    let program = inside.strip_prefix("bin/").is_some_and(|name| {
        name.split_once('/')
            .is_none_or(|(_, below)| below == "main.rs")
    });
    program || inside == "lib.rs" || inside == "main.rs"
}

#[test]
fn unsafe_code_stands_only_in_listed_modules() {
    assert_clean(
        "unsafe code outside the listed modules",
        &unsafe_tokens(&Tree::checkout()),
    );
}

#[test]
fn unsafe_code_is_allowed_only_for_listed_modules() {
    assert_clean(
        "permission for unsafe code",
        &permissions(&Tree::checkout()),
    );
}

#[test]
fn every_root_forbids_or_denies_unsafe_code() {
    assert_clean("lint level at the root", &roots(&Tree::checkout()));
}

#[test]
fn token_rule_fires() {
    let tree = Tree::sample(&[
        ("net/src/tcp.rs", "// unsafe\nfn f() { unsafe { g() } }"),
        (
            "net/src/udp.rs",
            "type F = unsafe fn(u8); type C = unsafe extern \"C\" fn(u8);",
        ),
        ("runtime/src/sys.rs", "unsafe fn f() {}"),
        ("runtime/src/system.rs", "unsafe impl Send for T {}"),
    ]);
    assert_fires(
        &unsafe_tokens(&tree),
        &["net/src/tcp.rs:2", "runtime/src/system.rs:1"],
    );
}

#[test]
fn permission_rule_fires() {
    let tree = Tree::sample(&[
        (
            "primitives/src/lib.rs",
            "#[allow(unsafe_code)] mod lane;\n#[allow(unsafe_code)] mod pad;",
        ),
        ("net/src/lib.rs", "#![allow(unsafe_code)]"),
        ("primitives/src/lane/mod.rs", "#![allow(unsafe_code)]"),
    ]);
    assert_fires(
        &permissions(&tree),
        &["primitives/src/lib.rs:2", "net/src/lib.rs:1"],
    );
}

#[test]
fn root_rule_fires() {
    let tree = Tree::sample(&[
        ("net/src/lib.rs", "#![deny(unsafe_code)]"),
        ("runtime/src/lib.rs", "//! Docs."),
        ("primitives/src/lib.rs", "#![deny(unsafe_code)]"),
        ("examples/src/bin/echo.rs", "fn main() {}"),
        ("examples/src/bin/feed/main.rs", "#![forbid(unsafe_code)]"),
        ("examples/src/bin/feed/book.rs", ""),
    ]);
    let found = roots(&tree);
    assert_fires(
        &found,
        &[
            "net/src/lib.rs",
            "runtime/src/lib.rs",
            "examples/src/bin/echo.rs",
        ],
    );
}
