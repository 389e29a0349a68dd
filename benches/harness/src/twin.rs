//! A benchmark binary: its entries, and the command line that the interleaved run drives.
//!
//! `list` prints the entries, `serve` answers one line of JSON to each line on standard input until
//! it is closed, `run` runs this binary's rows alone.

use std::io::{BufRead, Write};
use std::net::TcpListener;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};

use clap::{Args, Parser, Subcommand};
use serde::{Deserialize, Serialize};

use crate::measure::Memory;
use crate::{BenchError, Cores, Kind, Meter, Plan, RowSpec, Sample, bind, find_row, pin, run};

/// What a round is told.
#[derive(Debug, Clone, Copy)]
pub struct Params {
    /// Operations to do.
    pub ops: u64,
    /// Shards to run, where a row scales.
    pub shards: usize,
    /// The two cores of the round.
    pub cores: Cores,
}

/// What a server is told; it serves until the process ends.
pub struct Serving {
    /// One listener a shard, all on one port.
    pub listeners: Vec<TcpListener>,
    /// One core a shard.
    pub cores: Vec<usize>,
    /// Connections that will be open at a time.
    pub connections: usize,
    /// Bytes of a request.
    pub bytes: usize,
    /// Where a server that counts them reports its enters and completions.
    pub counters: Arc<Counters>,
    /// Told once, when connections may come.
    pub ready: SyncSender<()>,
}

impl Serving {
    /// Runs `serve` once a shard, each on a thread of its own pinned to its core, with its
    /// listener.
    ///
    /// # Errors
    ///
    /// [`BenchError::Pin`], [`BenchError::Panicked`], and what `serve` returns.
    pub fn each(
        self,
        serve: impl Fn(usize, TcpListener, &Counters) -> Result<(), BenchError> + Sync,
    ) -> Result<(), BenchError> {
        // Connections wait in the listeners' queues; nobody listens to `ready` only when the twin
        // ends.
        self.ready.send(()).map_err(|_| BenchError::Panicked)?;
        let (serve, counters) = (&serve, &self.counters);
        std::thread::scope(|scope| {
            let shards: Vec<_> = (self.listeners.into_iter().zip(self.cores))
                .map(|(listener, core)| {
                    scope.spawn(move || {
                        pin(core)?;
                        serve(core, listener, counters)
                    })
                })
                .collect();
            for shard in shards {
                shard.join().map_err(|_| BenchError::Panicked)??;
            }
            Ok(())
        })
    }
}

/// Enters into the kernel's ring (or waits) and completions (or events) of a server, cumulative.
#[derive(Default)]
pub struct Counters {
    enters: AtomicU64,
    completions: AtomicU64,
    reader: OnceLock<Box<dyn Fn() -> (u64, u64) + Send + Sync>>,
    remark: OnceLock<String>,
}

impl Counters {
    /// Adds one enter and what it brought.
    pub fn add(&self, completions: u64) {
        self.enters.fetch_add(1, Ordering::Relaxed);
        self.completions.fetch_add(completions, Ordering::Relaxed);
    }

    /// Has `reader` give enters and completions instead, for servers that count on their own.
    pub fn read_by(&self, reader: impl Fn() -> (u64, u64) + Send + Sync + 'static) {
        // The first reader stays: a server has one.
        self.reader.get_or_init(|| Box::new(reader));
    }

    /// Says something of the server for the row's note, such as its driver; the first remark stays.
    pub fn remark(&self, remark: impl Into<String>) {
        self.remark.get_or_init(|| remark.into());
    }

    fn read(&self) -> (u64, u64) {
        match self.reader.get() {
            Some(reader) => reader(),
            None => (
                self.enters.load(Ordering::Relaxed),
                self.completions.load(Ordering::Relaxed),
            ),
        }
    }
}

/// A whole round.
pub type Round = dyn Fn(&Params) -> Result<Sample, BenchError> + Send + Sync;

/// How an entry does its row.
#[derive(Clone)]
pub enum Work {
    /// Does a whole round.
    Round(Arc<Round>),
    /// Serves the neutral client.
    Serve(fn(Serving) -> Result<(), BenchError>),
}

/// One side of one row.
#[derive(Clone)]
pub struct Entry {
    /// The row's suite.
    pub suite: &'static str,
    /// The row's name.
    pub row: &'static str,
    /// `corelane`, `NAME-VERSION`, `bare-…` or `control-…`.
    pub who: String,
    /// Divides the row's operations, for a side that takes far longer.
    pub ops_divisor: u64,
    /// How.
    pub work: Work,
}

impl Entry {
    /// An entry that does whole rounds.
    pub fn round(
        (suite, row): (&'static str, &'static str),
        who: impl Into<String>,
        round: impl Fn(&Params) -> Result<Sample, BenchError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            suite,
            row,
            who: who.into(),
            ops_divisor: 1,
            work: Work::Round(Arc::new(round)),
        }
    }

    /// An entry that serves the neutral client.
    pub fn server(
        row: &'static str,
        who: impl Into<String>,
        serve: fn(Serving) -> Result<(), BenchError>,
    ) -> Self {
        Self {
            suite: "tcp",
            row,
            who: who.into(),
            ops_divisor: 1,
            work: Work::Serve(serve),
        }
    }

    /// Has this side do one operation in `divisor`.
    #[must_use]
    pub fn fewer(mut self, divisor: u64) -> Self {
        self.ops_divisor = divisor;
        self
    }
}

/// How the interleaved run names an entry.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Listed {
    pub(crate) suite: String,
    pub(crate) row: String,
    pub(crate) who: String,
    pub(crate) ops_divisor: u64,
}

/// What a serving twin says, a line each.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    Port(u16),
    Sample(Sample),
    Mark(Mark),
    Failed(String),
    Absent(String),
}

/// A cumulative reading of a server process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Mark {
    pub(crate) meter: Meter,
    pub(crate) memory: Memory,
    pub(crate) enters: u64,
    pub(crate) completions: u64,
    pub(crate) remark: Option<String>,
}

#[derive(Parser)]
#[command(about = "One side of the benchmarks; benches/run drives both")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Prints the rows that this binary has, as JSON.
    List,
    /// Answers each line on standard input with a round's result, as JSON.
    Serve(Serve),
    /// Runs rows of this binary alone and prints the tables.
    Run(Plan),
}

#[derive(Args)]
struct Serve {
    suite: String,
    row: String,
    who: String,
    #[arg(long)]
    quick: bool,
    #[arg(long, default_value_t = 1)]
    shards: usize,
}

/// A benchmark binary.
pub struct Twin {
    entries: Vec<Entry>,
}

impl Twin {
    /// A binary with these entries.
    pub fn new(entries: Vec<Entry>) -> Self {
        Self { entries }
    }

    /// Parses the command line and does what it says; the body of `main`.
    pub fn main(self) -> ExitCode {
        let outcome = match Cli::parse().command {
            Command::List => self.list(),
            Command::Serve(serve) => self.serve(&serve),
            Command::Run(plan) => std::env::current_exe()
                .map_err(BenchError::io("find this binary"))
                .and_then(|own| run(&plan, &[own])),
        };
        match outcome {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        }
    }

    fn list(&self) -> Result<(), BenchError> {
        let listed: Vec<_> = (self.entries.iter())
            .map(|entry| Listed {
                suite: entry.suite.to_owned(),
                row: entry.row.to_owned(),
                who: entry.who.clone(),
                ops_divisor: entry.ops_divisor,
            })
            .collect();
        println!(
            "{}",
            serde_json::to_string(&listed).expect("a list of strings is JSON")
        );
        Ok(())
    }

    fn serve(&self, serve: &Serve) -> Result<(), BenchError> {
        let unknown =
            || BenchError::Unknown(format!("{}/{} {}", serve.suite, serve.row, serve.who));
        let spec = find_row(&serve.suite, &serve.row).ok_or_else(unknown)?;
        let entry = (self.entries.iter())
            .find(|entry| {
                (entry.suite, entry.row, &entry.who) == (spec.suite, spec.row, &serve.who)
            })
            .ok_or_else(unknown)?;
        let params = Params {
            ops: spec.round_ops(serve.quick) / entry.ops_divisor,
            shards: serve.shards,
            cores: spec.cores()?,
        };
        match &entry.work {
            Work::Round(round) => answer_rounds(&params, &**round),
            Work::Serve(server) => answer_marks(&params, spec, *server),
        }
    }
}

fn say(answer: &Answer) -> Result<(), BenchError> {
    let line = serde_json::to_string(answer).expect("an answer has only numbers and strings");
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .map_err(BenchError::io("answer"))
}

fn answer_rounds(params: &Params, round: &Round) -> Result<(), BenchError> {
    for line in std::io::stdin().lock().lines() {
        line.map_err(BenchError::io("read a command"))?;
        // A thread a round: it may pin itself and leave nothing behind for the next.
        let outcome = std::thread::scope(|scope| scope.spawn(|| round(params)).join());
        say(&match outcome.unwrap_or(Err(BenchError::Panicked)) {
            Ok(sample) => Answer::Sample(sample),
            Err(BenchError::Absent(what)) => Answer::Absent(what),
            Err(error) => Answer::Failed(error.to_string()),
        })?;
    }
    Ok(())
}

fn answer_marks(
    params: &Params,
    spec: &RowSpec,
    server: fn(Serving) -> Result<(), BenchError>,
) -> Result<(), BenchError> {
    let (first, address) = bind(0)?;
    let mut listeners = vec![first];
    for _ in 1..params.shards {
        listeners.push(bind(address.port())?.0);
    }
    let ids = core_affinity::get_core_ids().unwrap_or_default();
    let cores = (0..params.shards)
        .map(|shard| ids[shard % ids.len()].id)
        .collect();
    let (connections, bytes) = match spec.kind {
        Kind::Serve { connections, bytes } => (connections, bytes),
        Kind::Churn { connections } => (connections, 64),
        Kind::Round => return Err(BenchError::Unknown(format!("{} is not served", spec.row))),
    };
    let counters = Arc::new(Counters::default());
    let (ready, await_ready) = sync_channel(1);
    let serving = Serving {
        listeners,
        cores,
        connections,
        bytes,
        counters: Arc::clone(&counters),
        ready,
    };
    std::thread::spawn(move || {
        let outcome = server(serving).err();
        let reason = outcome.map_or("the server returned".to_owned(), |error| error.to_string());
        if say(&Answer::Failed(reason)).is_err() {
            eprintln!("a server ended and nobody listens");
        }
        std::process::exit(1);
    });
    // A server that fails before it is ready ends the process, so this wait ends too.
    await_ready.recv().map_err(|_| BenchError::Panicked)?;
    say(&Answer::Port(address.port()))?;
    for line in std::io::stdin().lock().lines() {
        line.map_err(BenchError::io("read a command"))?;
        let (enters, completions) = counters.read();
        let mark = Mark {
            meter: Meter::start(),
            memory: Memory::read(),
            enters,
            completions,
            remark: counters.remark.get().cloned(),
        };
        say(&Answer::Mark(mark))?;
    }
    Ok(())
}
