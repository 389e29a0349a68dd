//! `#[corelane::main]`: what the program ends with, and what it says.
#![allow(clippy::unwrap_used)]

use std::process::{Command, ExitCode};

/// A `main` with every option.
mod every_option {
    #[corelane::main(shards = 3, idle = "park", driver = "epoll")]
    pub(super) async fn main() {
        assert_eq!(corelane::shards().len(), 3);
        let here = corelane::shard();
        assert_eq!(here.index(), 0);
        assert_eq!(here.driver().map(corelane::DriverInfo::name), Some("epoll"));
    }
}

mod fails {
    #[corelane::main(shards = 1)]
    pub(super) async fn main() -> Result<(), &'static str> {
        corelane::task::yield_now().await;
        Err("as asked for")
    }
}

mod chooses_its_status {
    #[corelane::main(shards = 1, idle = "spin-then-park", driver = "auto")]
    pub(super) async fn main() -> std::process::ExitCode {
        std::process::ExitCode::from(7)
    }
}

// proves: RT-24
#[test]
fn main_runs_on_shard_0_of_what_its_options_name() {
    assert_eq!(every_option::main(), ExitCode::SUCCESS);
}

// proves: RT-24
#[test]
fn program_ends_with_what_main_returns() {
    assert_eq!(fails::main(), ExitCode::FAILURE);
    assert_eq!(chooses_its_status::main(), ExitCode::from(7));
}

// proves: RT-24
#[test]
fn runtime_that_does_not_start_says_why_in_one_line() {
    const CHILD: &str = "CORELANE_MAIN_CHILD";
    if std::env::var_os(CHILD).is_some() {
        assert_eq!(chooses_its_status::main(), ExitCode::FAILURE);
        return;
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "runtime_that_does_not_start_says_why_in_one_line",
        ])
        .args(["--nocapture", "--test-threads=1"])
        .envs([(CHILD, "1"), ("CORELANE_DRIVER", "kqueue")])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{told}");
    let line = "corelane did not start: CORELANE_DRIVER is \"kqueue\", not uring, epoll or auto\n";
    assert!(told.contains(line), "{told}");
}
