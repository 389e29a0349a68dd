//! Clocks, atomics and thread-locals have one home each, so that simulation and loom see them all.

use crate::{
    tokens::{Token, find, flat, paths, test_code},
    tree::{File, Tree, assert_clean, assert_fires},
};

/// The only modules of the runtime and of the primitives that read the system's clocks.
const CLOCKS: [&str; 2] = ["runtime/src/time/clock", "primitives/src/timers"];
/// The only files of the leaf crate and of the primitives that name atomics and cells.
const SYNC: [&str; 3] = [
    "thread_aware/src/sync",
    "thread_aware/src/sync_loom",
    "primitives/src/sync",
];
/// The modules with thread-local state, each with its reason.
const THREAD_LOCALS: [(&str, &str); 3] = [
    (
        "thread_aware/src/affinity",
        "says what the thread has entered; nothing else does",
    ),
    (
        "runtime/src/task/current",
        "the pointer found for one entry, compared with that entry at each use: a third of a wake",
    ),
    (
        "benches/harness/src/relocation/value",
        "counts what the benchmark's own threads have made, to check it",
    ),
];

/// Readings of the monotonic or the wall clock in the runtime and below it, outside their clocks.
fn clock_readings(tree: &Tree) -> Vec<String> {
    let mut offenders = Vec::new();
    let timed = ["runtime/src/", "primitives/src/"];
    let sources = tree
        .rust()
        .filter(|file| timed.iter().any(|source| file.path.starts_with(source)));
    for file in sources.filter(|file| !CLOCKS.iter().any(|clock| file.is_in(clock))) {
        let tokens = flat(file);
        for line in readings(&tokens) {
            offenders.push(format!("{}:{line}: reads a clock of std", file.path));
        }
    }
    offenders
}

/// Lines that call `now` on std's `Instant` or on any `SystemTime`, under whatever name.
fn readings(tokens: &[Token]) -> Vec<usize> {
    let all = paths(tokens);
    let imported = |name: &str| {
        all.iter().any(|path| {
            let last = path.parts.last().map(String::as_str);
            let bound = path.alias.as_deref().or(last);
            let of_std = path.is_std(&["time", "Instant"]) || path.is_std(&["time", "SystemTime"]);
            of_std && path.parts.len() == 3 && bound == Some(name)
        })
    };
    let calls = all.iter().filter(|path| path.ends_with(&["now"]));
    let of_std = calls.filter(|path| {
        let owner = path.parts[path.parts.len() - 2].as_str();
        let local = path.parts.len() == 2 && (imported(owner) || owner == "SystemTime");
        local || path.is_std(&["time"]) || path.starts_with(&["time", "SystemTime"])
    });
    of_std.map(|path| path.line).collect()
}

/// Atomics and cells that a crate with models takes from std instead of from its `sync`.
fn foreign_atomics(tree: &Tree) -> Vec<String> {
    let mut offenders = Vec::new();
    let modelled = ["thread_aware/src/", "primitives/src/"];
    let sources = tree.rust().filter(|file| {
        let is_modelled = modelled.iter().any(|source| file.path.starts_with(source));
        is_modelled && !SYNC.iter().any(|sync| file.is_in(sync))
    });
    for file in sources {
        for path in paths(&flat(file)) {
            if path.is_std(&["sync", "atomic"]) || path.is_std(&["cell", "UnsafeCell"]) {
                let name = path.parts.join("::");
                offenders.push(format!("{}:{}: {name} past sync.rs", file.path, path.line));
            }
        }
    }
    offenders
}

/// Thread-local state of a library; a test may keep some to see a thread end.
fn thread_locals(tree: &Tree) -> Vec<String> {
    let mut offenders = Vec::new();
    let allowed = |file: &File| THREAD_LOCALS.iter().any(|(module, _)| file.is_in(module));
    for file in tree.rust().filter(|file| !allowed(file)) {
        let tokens = flat(file);
        let tests: Vec<usize> = test_code(file).iter().map(|token| token.line).collect();
        let named = find(&tokens, &["thread_local", "!"]);
        // A model build keeps its counts in loom's own, which ends with each execution.
        let own = named.filter(|at| *at < 3 || tokens[at - 3].text != "loom");
        for at in own.filter(|at| !tests.contains(&tokens[*at].line)) {
            offenders.push(format!(
                "{}:{}: thread-local state",
                file.path, tokens[at].line
            ));
        }
    }
    offenders
}

/// Sleeping threads in test code: a test waits for a condition, never for time.
fn sleeps(tree: &Tree) -> Vec<String> {
    let mut offenders = Vec::new();
    for file in tree.rust() {
        for path in paths(&test_code(file)) {
            if path.ends_with(&["thread", "sleep"]) {
                offenders.push(format!("{}:{}: a test sleeps", file.path, path.line));
            }
        }
    }
    offenders
}

#[test]
fn runtime_and_primitives_read_clocks_in_one_place_each() {
    assert_clean("clock readings", &clock_readings(&Tree::checkout()));
}

#[test]
fn modelled_crates_take_atomics_from_sync() {
    assert_clean(
        "atomics and cells past sync.rs",
        &foreign_atomics(&Tree::checkout()),
    );
}

#[test]
fn thread_locals_stand_in_listed_modules() {
    assert_clean("thread-locals", &thread_locals(&Tree::checkout()));
}

#[test]
fn tests_never_sleep() {
    assert_clean("sleeping tests", &sleeps(&Tree::checkout()));
}

#[test]
fn clock_rule_fires() {
    let clock = "use std::time::Instant;\nfn f() { Instant::now(); }";
    let tree = Tree::sample(&[
        ("runtime/src/a.rs", clock),
        (
            "runtime/src/b.rs",
            "use std::time::{Duration, Instant as I};\nfn f() { I::now(); }",
        ),
        (
            "runtime/src/c.rs",
            "fn f() { std::time::SystemTime::now(); }",
        ),
        (
            "runtime/src/d.rs",
            "use crate::time::Instant;\nfn f() { Instant::now(); }",
        ),
        ("runtime/src/time/clock.rs", clock),
        ("primitives/src/timers.rs", clock),
        ("primitives/src/claim/shared.rs", clock),
    ]);
    let wanted = [
        "runtime/src/a.rs:2",
        "runtime/src/b.rs:2",
        "runtime/src/c.rs:1",
        "primitives/src/claim/shared.rs:2",
    ];
    assert_fires(&clock_readings(&tree), &wanted);
}

#[test]
fn atomics_rule_fires() {
    let tree = Tree::sample(&[
        (
            "primitives/src/a.rs",
            "use std::sync::{Arc, atomic::{AtomicU8, fence}};",
        ),
        (
            "primitives/src/b.rs",
            "struct S { cell: core::cell::UnsafeCell<u8> }",
        ),
        (
            "primitives/src/c.rs",
            "use crate::sync::{UnsafeCell, atomic::AtomicU8};",
        ),
        ("primitives/src/sync.rs", "use std::sync::atomic::AtomicU8;"),
        (
            "thread_aware/src/sync.rs",
            "use core::sync::atomic::AtomicU8;",
        ),
        (
            "thread_aware/src/d.rs",
            "use core::sync::atomic::AtomicU16;",
        ),
        ("runtime/src/e.rs", "use core::sync::atomic::AtomicU32;"),
    ]);
    let wanted = [
        "atomic::AtomicU8",
        "atomic::fence",
        "core::cell::UnsafeCell",
        "atomic::AtomicU16",
    ];
    assert_fires(&foreign_atomics(&tree), &wanted);
}

#[test]
fn thread_local_rule_fires() {
    let text = "// thread_local!\nthread_local! { static A: u8 = 0; }";
    let tree = Tree::sample(&[
        ("net/src/a.rs", text),
        ("thread_aware/src/affinity.rs", text),
        ("runtime/src/task/current.rs", text),
        ("net/tests/b.rs", text),
        ("net/src/c.rs", "loom::thread_local! { static A: u8 = 0; }"),
        (
            "net/src/d.rs",
            "#[cfg(test)]\nmod tests {\nthread_local! { static A: u8 = 0; }\n}",
        ),
    ]);
    assert_fires(&thread_locals(&tree), &["net/src/a.rs:2"]);
}

#[test]
fn sleep_rule_fires() {
    let tree = Tree::sample(&[
        (
            "net/tests/a.rs",
            "use std::thread;\nfn f() { thread::sleep(d); }",
        ),
        ("net/src/b.rs", "fn f() { std::thread::sleep(d); }"),
        (
            "net/src/c.rs",
            "#[cfg(test)]\nmod tests { use std::thread::{self, sleep}; }",
        ),
    ]);
    assert_fires(&sleeps(&tree), &["net/tests/a.rs:2", "net/src/c.rs:2"]);
}
