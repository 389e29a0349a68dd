//! Lines over TCP are an input like a file, one a connection.

use std::io::Write;
use std::net::Shutdown;

use corelane_examples::feed::{Generator, InstrumentId, Update};
use rustix::net::sockopt::set_socket_linger;
use serde_json::{Value, json};

use crate::clients::{connect, finish};
use crate::program::{Ended, Program, drivers};
use crate::scratch::Scratch;
use crate::texts::{books_of, fixture, fixture_books, text};

/// A service that listens.
struct Listening {
    program: Program,
    scratch: Scratch,
    addr: std::net::SocketAddr,
}

impl Listening {
    fn start(options: &[&str]) -> Self {
        let scratch = Scratch::new();
        let json = scratch.path("report.json");
        let args = ["--listen", "127.0.0.1:0", "--json", &json];
        let program = Program::start(args.into_iter().chain(options.iter().copied()));
        let addr = program.address("listening");
        Self {
            program,
            scratch,
            addr,
        }
    }

    fn end(self) -> (Ended, Value) {
        let ended = self.program.interrupt();
        (ended, self.scratch.json("report.json"))
    }
}

/// The feed of each instrument by itself.
fn feeds(updates: usize) -> Vec<Vec<Update>> {
    InstrumentId::all()
        .map(|id| Generator::of(11, id).take(updates).collect())
        .collect()
}

#[test]
fn every_connection_is_an_input_of_its_own() {
    let texts: Vec<_> = feeds(2_000).into_iter().map(text).collect();
    let books = books_of(texts.iter().map(|text| &text[..]));
    for driver in drivers() {
        for shards in ["1", "2", "4"] {
            let listening = Listening::start(&["--driver", driver, "--shards", shards]);
            let mut inputs: Vec<_> = texts.iter().map(|_| connect(listening.addr)).collect();
            // In turns and in pieces that cut lines anywhere.
            for part in 0..10 {
                for (input, text) in inputs.iter_mut().zip(&texts) {
                    let cut = |part: usize| text.len() * part / 10;
                    input.write_all(&text[cut(part)..cut(part + 1)]).unwrap();
                }
            }
            inputs.into_iter().for_each(finish);
            let (ended, report) = listening.end();
            ended.expect_status(0);
            assert_eq!(ended.stderr, "");
            assert_eq!(report["books"], books, "{driver} {shards}");
            assert_eq!(report["updates"], 10_000);
        }
    }
}

#[test]
fn a_snapshot_without_a_symbol_is_that_of_its_connection() {
    let mut recorded = std::fs::read(fixture()).unwrap();
    // The last line may lack its end.
    assert_eq!(recorded.pop(), Some(b'\n'));
    for driver in drivers() {
        let listening = Listening::start(&["--driver", driver]);
        let mut input = connect(listening.addr);
        input.write_all(&recorded).unwrap();
        finish(input);
        let (ended, report) = listening.end();
        ended.expect_status(0);
        assert_eq!(report["books"], fixture_books());
    }
}

#[test]
fn a_malformed_line_is_named_by_its_peer_and_number() {
    let listening = Listening::start(&[]);
    let mut input = connect(listening.addr);
    let peer = input.local_addr().unwrap();
    let good = text(feeds(10).remove(0));
    input.write_all(&good).unwrap();
    input.write_all(b"what is this\n").unwrap();
    input.write_all(&good).unwrap();
    finish(input);
    let (ended, report) = listening.end();
    ended.expect_status(0);
    assert_eq!(
        ended.one_line(),
        format!("market-feed: {peer}: line 11: no receive time stands before the JSON")
    );
    assert_eq!(
        (&report["malformed"], &report["updates"]),
        (&json!(1), &json!(20))
    );
}

#[test]
fn a_strict_service_ends_at_the_first_malformed_line() {
    for shards in ["1", "2"] {
        let listening = Listening::start(&["--strict", "--shards", shards]);
        let idle = connect(listening.addr);
        let mut input = connect(listening.addr);
        let peer = input.local_addr().unwrap();
        input.write_all(b"what is this\n").unwrap();
        let ended = listening.program.end();
        ended.expect_status(2);
        let begin = format!("market-feed: {peer}: line 1: ");
        assert!(ended.one_line().starts_with(&begin), "{ended:#?}");
        assert_eq!(listening.scratch.json("report.json")["malformed"], 1);
        drop(idle);
    }
}

#[test]
fn a_connection_that_breaks_is_the_peers_trouble_alone() {
    let whole = text(feeds(1_000).remove(2));
    for driver in drivers() {
        let listening = Listening::start(&["--driver", driver]);
        let broken = connect(listening.addr);
        let peer = broken.local_addr().unwrap();
        set_socket_linger(&broken, Some(std::time::Duration::ZERO)).unwrap();
        (&broken).write_all(&whole[..100]).unwrap();
        drop(broken);
        let mut input = connect(listening.addr);
        input.write_all(&whole).unwrap();
        finish(input);
        let (ended, report) = listening.end();
        ended.expect_status(0);
        // A peer that is gone before it was accepted is not even heard of.
        for line in ended.stderr.lines() {
            assert!(
                line.starts_with(&format!("market-feed: {peer}: ")),
                "{line}"
            );
        }
        assert_eq!(report["books"], books_of([&whole[..]]));
    }
}

#[test]
fn the_end_does_not_wait_for_peers() {
    for driver in drivers() {
        let listening = Listening::start(&["--driver", driver]);
        let mut input = connect(listening.addr);
        let silent = connect(listening.addr);
        let ended = connect(listening.addr);
        ended.shutdown(Shutdown::Write).unwrap();
        input.write_all(&text(feeds(100).remove(1))).unwrap();
        input.write_all(b"1 {\"a line without its e").unwrap();
        let (ended, report) = listening.end();
        ended.expect_status(0);
        // What the run itself cut off is not the peer's fault.
        assert_eq!(
            (ended.stderr.as_str(), &report["malformed"]),
            ("", &json!(0))
        );
        drop((input, silent));
    }
}
