//! `#[corelane::test]`: where it runs, and what it says.
#![allow(clippy::unwrap_used)]

use std::fmt;
use std::process::{Command, Output};
use std::sync::Mutex;

use corelane::shards;

/// The name of the driver that this shard runs on.
fn driver() -> String {
    corelane::shard().driver().unwrap().name().to_owned()
}

/// Runs one test of this file as a program of its own.
fn rerun(test: &str, environment: &[(&str, &str)]) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env_remove("CORELANE_DRIVER")
        .env_remove("CORELANE_SIM_SEED")
        .envs(environment.iter().copied())
        .output()
        .unwrap()
}

/// Whether the test was asked for by `rerun`: then it does what it is there for.
fn is_rerun() -> bool {
    std::env::var_os("CORELANE_TEST_RERUN").is_some()
}

const RERUN: (&str, &str) = ("CORELANE_TEST_RERUN", "1");

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn uring_is_refused() -> bool {
    let started = corelane::Runtime::builder()
        .shards(1)
        .driver(corelane::Driver::Uring)
        .run(|| async {});
    started.is_err()
}

#[corelane::test]
async fn writes_its_driver() {
    // The parent reads these lines; alone, the test shows that two shards are there.
    assert_eq!(shards().len(), 2);
    println!("ran on {}.", driver());
}

// proves: RT-24
#[test]
fn test_runs_on_every_driver_that_the_kernel_allows() {
    let output = rerun("writes_its_driver", &[]);
    assert!(output.status.success());
    let (said, told) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr(&output),
    );
    assert!(said.contains("ran on epoll."), "{said}");
    if uring_is_refused() {
        let line = "corelane: tests go without uring here: io_uring is refused: ";
        assert_eq!(told.matches(line).count(), 1, "{told}");
    } else {
        assert!(said.contains("ran on uring."), "{said}");
    }
}

// proves: RT-24
#[test]
fn environment_restricts_a_test_to_one_driver() {
    let epoll = rerun("writes_its_driver", &[("CORELANE_DRIVER", "epoll")]);
    assert!(epoll.status.success());
    let said = String::from_utf8_lossy(&epoll.stdout).into_owned();
    assert!(
        said.contains("ran on epoll.") && !said.contains("ran on uring."),
        "{said}"
    );

    let uring = rerun("writes_its_driver", &[("CORELANE_DRIVER", "uring")]);
    let said = String::from_utf8_lossy(&uring.stdout).into_owned();
    assert!(!said.contains("ran on epoll."), "{said}");
    assert_eq!(uring.status.success(), !uring_is_refused());

    let wrong = rerun("writes_its_driver", &[("CORELANE_DRIVER", "kqueue")]);
    assert!(!wrong.status.success());
    assert!(stderr(&wrong).contains("CORELANE_DRIVER is \"kqueue\""));
}

#[corelane::test(epoll)]
async fn fails_when_asked_to() -> Result<(), fmt::Error> {
    if is_rerun() { Err(fmt::Error) } else { Ok(()) }
}

#[corelane::test(sim, seeds = 5)]
async fn fails_at_the_seed_when_asked_to() {
    // Whether a packet takes long is the seed's; every seed passes but where asked for.
    assert_eq!(driver(), "sim");
    assert!(!is_rerun(), "as asked for");
}

// proves: RT-24
#[test]
fn failure_names_the_driver_and_how_to_run_it_alone() {
    let output = rerun("fails_when_asked_to", &[RERUN]);
    let told = stderr(&output);
    assert!(!output.status.success());
    for line in [
        "the test returned an error: Error",
        "the test failed on epoll; CORELANE_DRIVER=epoll runs it on that alone",
    ] {
        assert!(told.contains(line), "no {line:?} in {told}");
    }
}

// proves: RT-24
#[test]
fn failure_names_the_seed_and_how_to_replay_it() {
    for (seed, environment) in [
        (0, vec![RERUN]),
        (3, vec![RERUN, ("CORELANE_SIM_SEED", "3")]),
    ] {
        let output = rerun("fails_at_the_seed_when_asked_to", &environment);
        let told = stderr(&output);
        assert!(!output.status.success());
        assert!(
            told.contains(&format!("CORELANE_SIM_SEED={seed} replays it")),
            "{told}"
        );
    }
}

static SEEDS_RUN: Mutex<u32> = Mutex::new(0);

#[corelane::test(sim, seeds = 5)]
async fn counts_its_runs() {
    let runs = {
        let mut runs = SEEDS_RUN.lock().unwrap();
        *runs += 1;
        *runs
    };
    println!("run {runs}.");
}

// proves: RT-24
#[test]
fn simulated_test_runs_each_seed_and_the_first_one_twice() {
    let output = rerun("counts_its_runs", &[]);
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        said.contains("run 6.") && !said.contains("run 7."),
        "{said}"
    );
}

#[corelane::test(shards = 5, sim, epoll, seeds = 1)]
async fn named_drivers_and_shards_are_what_a_test_gets() {
    assert_eq!(shards().len(), 5);
    assert!(["sim", "epoll"].contains(&driver().as_str()));
}

#[corelane::test(shards = 1)]
#[allow(
    clippy::unused_unit,
    reason = "a return type that says nothing is one too"
)]
async fn attributes_and_return_types_are_kept() -> () {}
