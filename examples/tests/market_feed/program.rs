//! The program under test. Whatever it is waited for, there is a bound.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// No test waits longer for anything. Far above what any of it takes.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// A program that runs, or ran.
pub(crate) struct Program {
    pid: Pid,
    said: Receiver<String>,
    end: Receiver<Ended>,
}

/// How a program ended, and what it had said.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Program {
    /// Starts the service with these arguments.
    pub(crate) fn start<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_market-feed"))
            .args(args)
            .env_remove("RUST_LOG")
            .env_remove("CORELANE_DRIVER")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let pid = Pid::from_child(&child);
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut stderr = child.stderr.take().unwrap();
        let (say, said) = channel();
        let out = thread::spawn(move || {
            let mut all = String::new();
            for line in stdout.lines() {
                let line = line.unwrap();
                all.push_str(&line);
                all.push('\n');
                // A test that has heard enough does not listen any more.
                let _ = say.send(line);
            }
            all
        });
        let err = thread::spawn(move || {
            let mut all = String::new();
            stderr.read_to_string(&mut all).unwrap();
            all
        });
        let (tell, end) = channel();
        thread::spawn(move || {
            let (stdout, stderr) = (out.join().unwrap(), err.join().unwrap());
            let status = child.wait().unwrap().code();
            let _ = tell.send(Ended {
                status,
                stdout,
                stderr,
            });
        });
        Self { pid, said, end }
    }

    /// Runs the service to its end.
    pub(crate) fn run<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Ended {
        Self::start(args).end()
    }

    /// Waits for a line of standard output that begins so, and gives the rest of it.
    pub(crate) fn hear(&self, begin: &str) -> String {
        loop {
            let line = self.said.recv_timeout(LIMIT).unwrap();
            if let Some(rest) = line.strip_prefix(begin) {
                return rest.to_owned();
            }
        }
    }

    /// Where the program serves or listens.
    pub(crate) fn address(&self, does: &str) -> SocketAddr {
        self.hear(&format!("{does} on ")).parse().unwrap()
    }

    /// Sends a signal to this program alone.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid, signal).unwrap();
    }

    /// Waits for the end.
    pub(crate) fn end(self) -> Ended {
        self.end.recv_timeout(LIMIT).unwrap()
    }

    /// Asks for the end, and waits for it.
    pub(crate) fn interrupt(self) -> Ended {
        self.signal(Signal::INT);
        self.end()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The end is told after the child was reaped: without it, the id is still the child's.
        if self.end.try_recv() == Err(TryRecvError::Empty) {
            let _ = kill_process(self.pid, Signal::KILL);
        }
    }
}

impl PartialEq for Ended {
    fn eq(&self, other: &Self) -> bool {
        (self.status, &self.stdout, &self.stderr) == (other.status, &other.stdout, &other.stderr)
    }
}

impl Ended {
    /// Says what happened where a test finds something else than `status`.
    pub(crate) fn expect_status(&self, status: i32) {
        assert_eq!(self.status, Some(status), "{self:#?}");
    }

    /// The one line of standard error.
    pub(crate) fn one_line(&self) -> &str {
        let lines: Vec<_> = self.stderr.lines().collect();
        let [line] = lines[..] else {
            panic!("one line on standard error: {self:#?}")
        };
        line
    }
}

/// The drivers that this machine has, or the one that `CORELANE_DRIVER` names.
pub(crate) fn drivers() -> &'static [&'static str] {
    static DRIVERS: OnceLock<Vec<&str>> = OnceLock::new();
    DRIVERS.get_or_init(|| {
        match std::env::var("CORELANE_DRIVER").as_deref() {
            Ok("epoll") => return vec!["epoll"],
            Ok("uring") => return vec!["uring"],
            Ok(_) | Err(_) => {}
        }
        let mut drivers = vec!["epoll"];
        let ended = Program::run(["--driver", "uring", "--seconds", "0.01"]);
        match ended.status {
            Some(0) => drivers.push("uring"),
            _ => {
                assert!(ended.stderr.contains("io_uring is refused"), "{ended:#?}");
                eprintln!("io_uring is refused here; epoll stands for it");
            }
        }
        drivers
    })
}
