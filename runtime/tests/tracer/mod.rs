//! Looks at a thread of a child as a debugger does. The child is this program itself: the test that
//! asks for it, started again.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::parent_id;
use std::process::{Command, Stdio};

use nix::errno::Errno;
use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

const CHILD: &str = "CORELANE_TRACED_CHILD";

/// Marks a place in the child: no other part of it asks for its parent.
pub(crate) const MARK: u64 = 110;

/// What the child was started for; `None` in the program that looks at it.
pub(crate) fn child() -> Option<String> {
    std::env::var(CHILD).ok()
}

/// In the child: lets the parent begin to look at this thread.
pub(crate) fn begin() {
    // The parent attaches before it answers.
    println!("\n{}", rustix::thread::gettid().as_raw_nonzero());
    std::io::stdout().flush().unwrap();
    std::io::stdin().read_exact(&mut [0]).unwrap();
}

/// In the child: a place that the parent sees.
pub(crate) fn mark() {
    assert_ne!(parent_id(), 0);
}

/// Starts the test `name` again as a child for `task`, looks at its thread by `watch` from
/// [`begin`] on, and gives what the child says behind that. `None` where the system lets nobody
/// trace, which is told.
pub(crate) fn look<R>(name: &str, task: &str, watch: impl FnOnce(Pid) -> R) -> Option<(R, String)> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(CHILD, task)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    let thread = output.find_map(|line| line.unwrap().parse().ok()).unwrap();
    let thread = Pid::from_raw(thread);
    let attached = ptrace::attach(thread);
    if attached != Err(Errno::EPERM) {
        attached.unwrap();
        assert_eq!(wait_for(thread), Signal::SIGSTOP);
    }
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    let seen = attached.is_ok().then(|| {
        let seen = watch(thread);
        ptrace::detach(thread, None).unwrap();
        seen
    });
    let said: Vec<_> = output.map(Result::unwrap).collect();
    assert!(child.wait().unwrap().success(), "{said:?}");
    if seen.is_none() {
        eprintln!("this system lets no program trace its child");
    }
    Some((seen?, said.join("\n")))
}

/// Waits until the thread stops by a signal.
pub(crate) fn wait_for(thread: Pid) -> Signal {
    match waitpid(thread, Some(WaitPidFlag::__WALL)).unwrap() {
        WaitStatus::Stopped(_, signal) => signal,
        other => panic!("the child does not stop: {other:?}"),
    }
}
