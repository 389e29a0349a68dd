//! Both programs end with what they promise.

use std::process::Command;

/// Runs a program, which checks its own outcome, and returns what it printed.
fn run(program: &str) -> String {
    let output = Command::new(program).output().expect("it was built");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    text
}

/// A line for each core, and every question asked.
fn check(text: &str, host: &str) {
    let mut lines = text.lines();
    let title = format!("64 tours of 100 visits on {host}");
    assert_eq!(lines.next(), Some(title.as_str()), "{text}");
    assert!(text.contains(", 1 thread"), "{text}");
    for (index, line) in lines.enumerate() {
        assert!(line.starts_with(&format!("core {index}: ")), "{text}");
        // A machine may have cores that no tour comes to.
        let ends = [
            " 50 computed, 1 thread",
            ": 0 answers from its cache, 0 computed, 0 thread",
        ];
        assert!(ends.iter().any(|end| line.ends_with(end)), "{text}");
    }
}

#[test]
fn plain_threads_have_a_cache_each() {
    check(&run(env!("CARGO_BIN_EXE_pinned-threads")), "pinned threads");
}

#[test]
fn runtimes_of_tokio_have_a_cache_each() {
    check(
        &run(env!("CARGO_BIN_EXE_tokio-runtimes")),
        "runtimes of Tokio",
    );
}
