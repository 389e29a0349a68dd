//! A test that changes or counts what belongs to its whole process runs in one of its own.

use std::process::{Child, Command, Output, Stdio};

const MARK: &str = "CORELANE_TEST_ALONE";

/// Runs `body` in a process of its own: the test `name`, which calls this, started again. Here
/// `watch` sees to that process until it has ended.
pub(crate) fn alone(name: &str, body: impl FnOnce(), watch: impl FnOnce(Child) -> Output) {
    if std::env::var_os(MARK).is_some() {
        return body();
    }
    let program = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(MARK, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let run = watch(program);
    let said = String::from_utf8_lossy(&run.stdout);
    let complained = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}{complained}");
    assert!(said.contains("1 passed"), "no test is named {name}: {said}");
}
