//! Control over TCP, on every shard: limits, snapshots, recording and the end of a run.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::clients::connect;
use crate::program::{Ended, Program, drivers};
use crate::scratch::Scratch;
use crate::texts::{fixture, fixture_books};

/// A service under control.
struct Controlled {
    program: Program,
    scratch: Scratch,
    commanders: Vec<BufReader<TcpStream>>,
    /// Where it listens, with `--listen`.
    listening: Option<SocketAddr>,
}

impl Controlled {
    /// Starts it, with one commander on each shard: connections go round.
    fn start(driver: &str, shards: usize, options: &[&str]) -> Self {
        let scratch = Scratch::new();
        let (json, count) = (scratch.path("report.json"), shards.to_string());
        let on = ["--driver", driver, "--shards", &count, "--json", &json];
        let control = ["--control", "127.0.0.1:0"];
        let program = Program::start(control.into_iter().chain(on).chain(options.iter().copied()));
        let listens = options.contains(&"--listen");
        let listening = listens.then(|| program.address("listening"));
        let addr = program.address("controlling");
        let commanders = (0..shards).map(|_| BufReader::new(connect(addr))).collect();
        Self {
            program,
            scratch,
            commanders,
            listening,
        }
    }

    /// The first line that answers a command on a shard.
    fn ask(&mut self, shard: usize, command: &str) -> Value {
        writeln!(self.commanders[shard].get_ref(), "{command}").unwrap();
        self.hear(shard)
    }

    fn hear(&mut self, shard: usize) -> Value {
        let mut line = String::new();
        self.commanders[shard].read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Has a commander end the run, and all of them see the end.
    fn stop(mut self, shard: usize) -> (Ended, Value) {
        assert_eq!(self.ask(shard, "stop"), json!({ "stops": true }));
        for commander in &mut self.commanders {
            assert_eq!(commander.read(&mut [0]).unwrap(), 0);
        }
        let ended = self.program.end();
        ended.expect_status(0);
        (ended, self.scratch.json("report.json"))
    }
}

fn on_everything(mut test: impl FnMut(&str, usize)) {
    for driver in drivers() {
        (1..=2).for_each(|shards| test(driver, shards));
    }
}

#[test]
fn every_shard_acts_on_every_limit_that_any_shard_sets() {
    on_everything(|driver, shards| {
        let options = ["--seconds", "600", "--limit", "ES=1:1"];
        let mut service = Controlled::start(driver, shards, &options);
        // More changes than a shard may be behind, and nobody waits for an answer.
        for change in 0..100 {
            let symbol = ["ES", "NQ", "CL"][change % 3];
            let commander = service.commanders[change % shards].get_mut();
            writeln!(commander, "limit {symbol} {change} 1000000000").unwrap();
        }
        let answers = (0..100).map(|change| service.hear(change % shards));
        let mut versions: Vec<_> = answers.map(|answer| answer["limits"].as_u64()).collect();
        versions.sort_unstable();
        assert_eq!(versions, (1..=100).map(Some).collect::<Vec<_>>());
        let (_, report) = service.stop(shards - 1);
        let limits = &report["limits"];
        assert_eq!(limits["version"], 100);
        let orders = limits["orders"].as_array().unwrap();
        assert_eq!(orders.len(), shards);
        for orders in orders {
            let versions = [&orders["version"], &orders["versions"]];
            assert_eq!(versions, [&json!(100), &json!(101)], "{report:#}");
        }
        // All limits, and the end.
        assert_eq!(report["control"], json!({ "sent": 101, "received": 101 }));
    });
}

/// How many trades of the fixture are larger than `order_max`, and leave more than `position_max`.
fn over(order_max: f64, position_max: f64) -> (u64, u64) {
    let (mut orders, mut positions, mut position) = (0, 0, 0.0);
    let text = std::fs::read_to_string(fixture()).unwrap();
    let json = text.lines().map(|line| line.split_once(' ').unwrap().1);
    for line in json.filter(|line| line.contains("@trade")) {
        let line: Value = serde_json::from_str(line).unwrap();
        let quantity: f64 = line["data"]["q"].as_str().unwrap().parse().unwrap();
        position += quantity;
        orders += u64::from(quantity > order_max);
        positions += u64::from(position > position_max);
    }
    (orders, positions)
}

#[test]
fn every_trade_of_a_recorded_feed_is_checked_by_one_shard() {
    let (orders_over, positions_over) = over(20.0, 300.0);
    assert!(orders_over > 0 && positions_over > 0);
    for driver in drivers() {
        for shards in ["1", "2", "3"] {
            let scratch = Scratch::new();
            let (json, path) = (scratch.path("report.json"), fixture());
            let ended = Program::run([
                "--replay",
                path.to_str().unwrap(),
                "--limit",
                "ES=20:300",
                "--driver",
                driver,
                "--shards",
                shards,
                "--json",
                &json,
            ]);
            ended.expect_status(0);
            let report = scratch.json("report.json");
            let sum = |key: &str| -> u64 {
                let orders = report["limits"]["orders"].as_array().unwrap().iter();
                orders.map(|orders| orders[key].as_u64().unwrap()).sum()
            };
            assert_eq!(sum("checked"), 53, "{report:#}");
            let found = (sum("orders_over"), sum("positions_over"));
            assert_eq!(found, (orders_over, positions_over), "{report:#}");
            // Nobody said anything: the run ended with its input.
            assert_eq!(report["control"], json!({ "sent": 0, "received": 0 }));
        }
    }
}

#[test]
fn a_snapshot_has_the_best_prices_of_all_shards() {
    on_everything(|driver, shards| {
        // The fixture, and then nothing until the end.
        let options = ["--listen", "127.0.0.1:0"];
        let mut service = Controlled::start(driver, shards, &options);
        assert_eq!(service.ask(0, "snapshot"), json!({ "snapshot": 0 }));
        let mut input = connect(service.listening.unwrap());
        input.write_all(&std::fs::read(fixture()).unwrap()).unwrap();
        input.shutdown(Shutdown::Write).unwrap();
        let book = &fixture_books()[0];
        let mut reads = 0;
        for ask in 0..10_000 {
            let mut best = service.ask(ask % shards, "snapshot");
            if best.get("snapshot").is_none() {
                assert_eq!(service.hear(ask % shards), json!({ "snapshot": 1 }));
                reads += 1;
            }
            let told = best.as_object_mut().unwrap();
            if told.get("bid") == Some(&book["best_bid"])
                && told["ask"] == book["best_ask"]
                && reads > 1
            {
                break;
            }
        }
        let (_, report) = service.stop(0);
        assert_eq!(report["books"][0], *book);
        assert_eq!(report["tops"]["reads"], reads);
        assert_eq!(report["control"]["sent"], report["control"]["received"]);
    });
}

#[test]
fn a_recording_has_what_was_traded_while_it_was_on() {
    on_everything(|driver, shards| {
        let kept = Scratch::new();
        let file = kept.path("trades");
        let speed = ["--seconds", "600", "--speed", "1x", "--record", &file];
        let mut service = Controlled::start(driver, shards, &speed);
        for (shard, word, is_on) in [(0, "stop", false), (shards - 1, "start", true)] {
            let answer = service.ask(shard, &format!("record {word}"));
            assert_eq!(answer, json!({ "recording": is_on }));
        }
        let (_, report) = service.stop(0);
        let recorded = report["recording"]["recorded"].as_u64().unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text.lines().count() as u64, recorded);
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            assert!(line["trade"]["price"].is_number(), "{line}");
        }
        assert!(recorded <= report["trades"]["published"].as_u64().unwrap());
    });
}

#[test]
fn a_whole_recording_is_every_trade() {
    on_everything(|driver, shards| {
        let scratch = Scratch::new();
        let (file, json) = (scratch.path("trades"), scratch.path("report.json"));
        let (path, count) = (fixture(), shards.to_string());
        let replay = ["--replay", path.to_str().unwrap(), "--record", &file];
        let on = ["--driver", driver, "--shards", &count, "--json", &json];
        Program::run(replay.into_iter().chain(on)).expect_status(0);
        let report = scratch.json("report.json");
        assert_eq!(report["recording"], json!({ "recorded": 53, "dropped": 0 }));
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text.lines().count(), 53);
    });
}

#[test]
fn what_is_no_command_is_answered_and_changes_nothing() {
    let mut service = Controlled::start("auto", 1, &["--seconds", "600"]);
    let long = "x".repeat(300);
    for (line, reason) in [
        ("hello", "known are: limit"),
        ("limit ES 1 x", "the limit of the position"),
        ("record start", "--record FILE"),
        (long.as_str(), "at most 256 bytes"),
    ] {
        let answer = service.ask(0, line);
        assert!(
            answer["error"].as_str().unwrap().contains(reason),
            "{answer}"
        );
    }
    let (ended, report) = service.stop(0);
    assert_eq!(ended.stderr, "");
    assert_eq!(report["limits"]["version"], 0);
    // Only what is a command goes to the control.
    assert_eq!(report["control"], json!({ "sent": 2, "received": 2 }));
}

#[test]
fn a_signal_and_the_time_end_the_run_through_the_control() {
    for driver in drivers() {
        for (seconds, signal) in [("0.2", None), ("600", Some(Signal::INT))] {
            let scratch = Scratch::new();
            let json = scratch.path("report.json");
            let on = ["--driver", driver, "--shards", "2", "--json", &json];
            let listen = ["--listen", "127.0.0.1:0", "--seconds", seconds];
            let program = Program::start(listen.into_iter().chain(on));
            program.address("listening");
            if let Some(signal) = signal {
                program.signal(signal);
            }
            program.end().expect_status(0);
            let report = scratch.json("report.json");
            assert_eq!(report["control"], json!({ "sent": 1, "received": 1 }));
        }
    }
}

#[test]
fn a_recording_that_breaks_fails_the_run_and_no_book() {
    let scratch = Scratch::new();
    let (json, path) = (scratch.path("report.json"), fixture());
    let replay = ["--replay", path.to_str().unwrap(), "--record", "/dev/full"];
    let ended = Program::run(replay.into_iter().chain(["--json", &json]));
    ended.expect_status(2);
    assert!(
        ended.one_line().contains("the recording broke: "),
        "{ended:#?}"
    );
    let report = scratch.json("report.json");
    assert_eq!(report["books"], fixture_books());
}

#[test]
fn a_file_that_cannot_be_made_starts_nothing() {
    let ended = Program::run(["--record", "/nowhere/at/all", "--seconds", "600"]);
    ended.expect_status(2);
    assert!(
        ended
            .one_line()
            .contains("/nowhere/at/all: cannot be written"),
        "{ended:#?}"
    );
}
