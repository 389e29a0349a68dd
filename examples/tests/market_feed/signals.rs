//! A signal ends the run in order, a second one at once.

use std::io::Write;

use rustix::process::Signal;

use crate::clients::{Readers, connect, finish};
use crate::program::{Program, drivers};
use crate::scratch::Scratch;
use crate::texts::{feed_text, fixture};

#[test]
fn either_signal_ends_the_run_with_its_report() {
    for (signal, name) in [(Signal::INT, "SIGINT"), (Signal::TERM, "SIGTERM")] {
        for driver in drivers() {
            let scratch = Scratch::new();
            let json = scratch.path("report.json");
            let program = Program::start([
                "--serve",
                "127.0.0.1:0",
                "--seconds",
                "600",
                "--driver",
                driver,
                "--json",
                &json,
            ]);
            program.address("serving");
            program.signal(signal);
            program.hear(name);
            let ended = program.end();
            ended.expect_status(0);
            assert!(ended.stdout.contains("updates  "), "{ended:#?}");
            let report = scratch.json("report.json");
            assert!(report["seconds"].as_f64().unwrap() < 600.0);
        }
    }
}

#[test]
fn a_signal_ends_a_replay_that_waits() {
    let path = fixture();
    let program = Program::start([
        "--serve",
        "127.0.0.1:0",
        "--speed",
        "0.000001x",
        "--replay",
        path.to_str().unwrap(),
    ]);
    program.address("serving");
    let ended = program.interrupt();
    ended.expect_status(0);
    assert_eq!(ended.stderr, "");
}

/// About a MiB of lines, all of which a subscriber may be behind, but more than sockets hold.
const UPDATES: usize = 15_000;

#[test]
fn the_second_signal_ends_the_program_at_once() {
    for driver in drivers() {
        let program = Program::start([
            "--serve",
            "127.0.0.1:0",
            "--listen",
            "127.0.0.1:0",
            "--shards",
            "1",
            "--driver",
            driver,
        ]);
        let serving = program.address("serving");
        let mut input = connect(program.address("listening"));
        let silent = connect(serving);
        let mut readers = Readers::new();
        readers.subscribe(serving);
        readers.warm_up(&mut input);
        input.write_all(&feed_text(UPDATES)).unwrap();
        finish(input);
        // The end waits for the silent subscriber for a while, so the second one comes in time.
        program.signal(Signal::INT);
        program.signal(Signal::TERM);
        let ended = program.end();
        // The system may hand the two over in either order; the later one gives the status.
        assert!(matches!(ended.status, Some(130 | 143)), "{ended:#?}");
        assert!(!ended.stdout.contains("updates  "), "{ended:#?}");
        drop(silent);
        drop(readers);
    }
}
