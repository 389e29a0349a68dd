//! What subscribers are told, and what becomes of those that do not listen.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use corelane_examples::feed::{Generator, InstrumentId, Update};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::clients::{Readers, connect, finish};
use crate::program::{Program, drivers};
use crate::scratch::Scratch;
use crate::texts::{books_of, feed_text, text};

fn expect_fields(line: &Value) {
    let object = line.as_object().unwrap();
    assert!(line["symbol"].is_string() && line["id"].is_u64(), "{line}");
    if line.get("trade").is_some() {
        assert_eq!(object.len(), 3, "{line}");
        assert!(line["trade"]["price"].is_number(), "{line}");
        assert!(line["trade"]["qty"].is_number(), "{line}");
    } else {
        assert_eq!(object.len(), 6, "{line}");
        for field in ["bid", "bid_qty", "ask", "ask_qty"] {
            assert!(line[field].is_number(), "{field} in {line}");
        }
    }
}

#[test]
fn subscribers_get_prices_and_trades_until_the_end() {
    for driver in drivers() {
        let scratch = Scratch::new();
        let json = scratch.path("report.json");
        let serve = ["--serve", "127.0.0.1:0", "--seconds", "600"];
        let args = serve
            .into_iter()
            .chain(["--driver", driver, "--json", &json]);
        let program = Program::start(args);
        let mut stream = BufReader::new(connect(program.address("serving")));
        let (mut tops, mut trades, mut line) = (0, 0, String::new());
        for _ in 0..1_000 {
            line.clear();
            stream.read_line(&mut line).unwrap();
            let line: Value = serde_json::from_str(&line).unwrap();
            expect_fields(&line);
            assert!(["CL", "ES", "GC", "NQ", "ZN"].contains(&line["symbol"].as_str().unwrap()));
            match line.get("trade") {
                Some(_) => trades += 1,
                None => tops += 1,
            }
        }
        assert!(tops > 0 && trades > 0, "{tops} and {trades}");
        program.signal(Signal::INT);
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
        assert!(
            rest.is_empty() || rest.ends_with(b"\n"),
            "the last line is torn"
        );
        program.end().expect_status(0);
        let report = scratch.json("report.json");
        assert_eq!(report["subscribers"], json!({ "served": 1, "cut": 0 }));
        assert_eq!(report["refused"], 0);
    }
}

/// What `served` says of a symbol: its last best prices, and how many trades.
fn told(served: &[Value], symbol: &Value) -> (Value, usize) {
    let of_symbol = || served.iter().filter(|line| line["symbol"] == *symbol);
    let top = of_symbol().rfind(|line| line.get("bid").is_some()).unwrap();
    let trades = of_symbol().filter(|line| line.get("trade").is_some());
    (
        json!({ "id": top["id"], "bid": top["bid"], "ask": top["ask"] }),
        trades.count(),
    )
}

/// Each subscriber's last best prices are those of the books, and it was told all trades.
pub(crate) fn expect_told(served: &[Value], books: &Value) {
    for book in books.as_array().unwrap() {
        let (top, trades) = told(served, &book["symbol"]);
        assert_eq!(top["bid"], book["best_bid"]);
        assert_eq!(top["ask"], book["best_ask"]);
        assert!(top["id"].as_u64() <= book["last_id"].as_u64());
        assert_eq!(trades, book["trades"].as_u64().unwrap() as usize);
    }
}

#[test]
fn a_subscriber_that_never_reads_is_cut_and_changes_nothing() {
    let text = feed_text(60_000);
    let books = books_of([&text[..]]);
    for (driver, shards) in drivers()
        .iter()
        .flat_map(|driver| [(driver, 1), (driver, 2)])
    {
        let scratch = Scratch::new();
        let json = scratch.path("report.json");
        let count = shards.to_string();
        let program = Program::start([
            "--serve",
            "127.0.0.1:0",
            "--listen",
            "127.0.0.1:0",
            "--json",
            &json,
            "--driver",
            driver,
            "--shards",
            &count,
        ]);
        let serving = program.address("serving");
        let mut input = connect(program.address("listening"));
        // Connections go round: one of each kind comes to each shard.
        let silent: Vec<_> = (0..shards).map(|_| connect(serving)).collect();
        let mut readers = Readers::new();
        (0..shards).for_each(|_| readers.subscribe(serving));
        readers.warm_up(&mut input);
        input.write_all(&text).unwrap();
        finish(input);
        program.interrupt().expect_status(0);

        let report = scratch.json("report.json");
        assert_eq!(
            report["subscribers"],
            json!({ "served": 2 * shards, "cut": shards }),
            "{driver} {shards}"
        );
        let all = report["books"].as_array().unwrap();
        let fed: Vec<_> = all.iter().filter(|book| book["symbol"] != "WARM").collect();
        assert_eq!(json!(fed), books);
        let mut bytes_told = 0;
        for served in readers.end() {
            expect_told(&served, &books);
            bytes_told = served.iter().map(|line| line.to_string().len()).sum();
        }
        for stream in silent {
            let got = read_what_came(stream);
            assert!(got < bytes_told, "{got} of {bytes_told} bytes");
        }
    }
}

/// How many bytes a subscriber had got when it was cut; a reset is one way to be.
fn read_what_came(mut stream: TcpStream) -> usize {
    let (mut got, mut buffer) = (0, [0; 65_536]);
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return got,
            Ok(bytes) => got += bytes,
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return got,
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn subscribers_may_leave_at_any_time() {
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
        let addr = program.address("serving");
        for reads in 0..50 {
            let mut stream = connect(addr);
            // Some have read a part of a line when they leave, some nothing.
            let mut part = vec![0; reads];
            stream.read_exact(&mut part).unwrap();
        }
        let mut last = BufReader::new(connect(addr));
        last.read_line(&mut String::new()).unwrap();
        drop(last);
        program.interrupt().expect_status(0);
        let report = scratch.json("report.json");
        assert_eq!(report["subscribers"], json!({ "served": 51, "cut": 0 }));
    }
}

/// The next line for a subscriber; `None` once it was cut, as who is too slow for a burst may be.
fn next_line(stream: &mut impl BufRead) -> Option<Value> {
    let mut line = String::new();
    match stream.read_line(&mut line) {
        Ok(_) if line.ends_with('\n') => Some(serde_json::from_str(&line).unwrap()),
        Ok(_) => None,
        Err(error) if error.kind() == ErrorKind::ConnectionReset => None,
        Err(error) => panic!("{error}"),
    }
}

/// Subscribes, and says whether the first lines are the best prices of all `books`.
fn subscribe(served: SocketAddr, books: &Value) -> (BufReader<TcpStream>, bool) {
    let mut stream = BufReader::new(connect(served));
    let books = books.as_array().unwrap();
    let told: Vec<_> = std::iter::from_fn(|| next_line(&mut stream))
        .take(books.len())
        .inspect(expect_fields)
        .collect();
    let are_told = books.iter().all(|book| {
        let best = |line: &Value| {
            let ids = line["symbol"] == book["symbol"] && line["id"] == book["last_id"];
            ids && line["bid"] == book["best_bid"] && line["ask"] == book["best_ask"]
        };
        told.iter().any(best)
    });
    (stream, are_told)
}

/// Text after whose last line the last id of every book is the one of its last best prices.
fn settled_text(updates: usize) -> Vec<u8> {
    let mut feed = Generator::new(11);
    let mut all: Vec<Update> = feed.by_ref().take(updates).collect();
    all.extend(InstrumentId::all().map(|id| feed.snapshot(id)));
    text(all)
}

#[test]
fn a_subscriber_of_a_resting_feed_is_told_the_best_prices_at_once() {
    let text = settled_text(2_000);
    let books = books_of([&text[..]]);
    for (driver, shards) in drivers()
        .iter()
        .flat_map(|driver| [(driver, "1"), (driver, "2")])
    {
        let program = Program::start([
            "--serve",
            "127.0.0.1:0",
            "--listen",
            "127.0.0.1:0",
            "--driver",
            driver,
            "--shards",
            shards,
        ]);
        let served = program.address("serving");
        let mut input = connect(program.address("listening"));
        input.write_all(&text).unwrap();
        // The feed comes to rest: all is applied when the last ids are told.
        let early = (1..10_000).find(|_| subscribe(served, &books).1).unwrap();
        let mut streams: Vec<_> = (0..3)
            .map(|_| {
                let (stream, are_told) = subscribe(served, &books);
                assert!(are_told);
                stream
            })
            .collect();
        // Who has nothing to say goes on to be served.
        for stream in &streams {
            let mut sender = stream.get_ref();
            sender.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
            stream.get_ref().shutdown(Shutdown::Write).unwrap();
        }
        let trade = r#"1 {"stream":"ES@trade","data":{"s":"ES","t":1,"p":"1","q":"2"}}"#;
        writeln!(input, "{trade}").unwrap();
        for stream in &mut streams {
            let mut line = String::new();
            stream.read_line(&mut line).unwrap();
            assert!(line.contains(r#""trade":{"price":1,"qty":2}"#), "{line}");
        }
        let ended = program.interrupt();
        ended.expect_status(0);
        let counts = format!("{} served, ", early + 3);
        assert!(ended.stdout.contains(&counts), "{ended:#?}");
    }
}

#[test]
fn best_prices_never_go_back_for_who_joins_a_busy_feed() {
    for (driver, shards) in drivers()
        .iter()
        .flat_map(|driver| [(driver, "1"), (driver, "2"), (driver, "3")])
    {
        let serve = ["--serve", "127.0.0.1:0", "--seconds", "600"];
        let options = ["--driver", driver, "--shards", shards];
        let program = Program::start(serve.into_iter().chain(options));
        let served = program.address("serving");
        let mut told = 0;
        for _ in 0..20 {
            let mut stream = BufReader::new(connect(served));
            let mut last: BTreeMap<String, (u64, Value)> = BTreeMap::new();
            let lines = std::iter::from_fn(|| next_line(&mut stream));
            for line in lines.take(500) {
                if line.get("trade").is_some() {
                    continue;
                }
                let symbol = line["symbol"].as_str().unwrap().to_owned();
                let id = line["id"].as_u64().unwrap();
                if let Some((before, told)) = last.get(&symbol) {
                    assert!(*before < id || *told == line, "{told}, and then {line}");
                }
                last.insert(symbol, (id, line));
            }
            told += last.len();
        }
        assert!(told > 5, "{told}");
        let ended = program.interrupt();
        ended.expect_status(0);
        assert!(ended.stdout.contains("20 served, "), "{ended:#?}");
    }
}
