//! LMAX's disruptor, in Java: one and three producers, one event processor, yielding waits.
//!
//! It runs where Debian's libdisruptor-java and a JDK are installed, in a virtual machine that
//! lives for all rounds of a row, so that its code is compiled by the time that counts. Its threads
//! are not pinned, since Java has no call for it. Processor time is the whole virtual machine's.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

use corelane_bench_harness::{
    BenchError, Entry, Params, SLOTS, Sample, Spent, other_process_floods, process_cpu_ns,
};

const JARS: &str = "/usr/share/java";
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/rings/Lmax.java");

static MACHINE: Mutex<Option<Machine>> = Mutex::new(None);

pub(crate) fn entries() -> Vec<Entry> {
    let version = jar().and_then(|(_, version)| version);
    let who = version.map_or("lmax".to_owned(), |version| format!("lmax-{version}"));
    other_process_floods(&who, round)
}

/// The library, and its version as its name says it.
fn jar() -> Option<(PathBuf, Option<String>)> {
    let names = std::fs::read_dir(JARS).ok()?.filter_map(Result::ok);
    let jars = names.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let rest = name.strip_prefix("disruptor")?.strip_suffix(".jar")?;
        Some((entry.path(), rest.strip_prefix('-').map(str::to_owned)))
    });
    // The name with the version, where there is one.
    jars.max_by(|(_, one), (_, other)| one.cmp(other))
}

/// A virtual machine that runs `Lmax.java`; it ends with its standard input.
struct Machine {
    process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    producers: usize,
}

impl Machine {
    fn start(producers: usize) -> Result<Self, BenchError> {
        let (jar, _) = jar().ok_or_else(|| BenchError::Absent("libdisruptor-java".to_owned()))?;
        let mut command = Command::new("java");
        command.arg("-cp").arg(jar).arg(SOURCE);
        command.args([producers.to_string(), SLOTS.to_string()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => BenchError::Absent("a JDK".to_owned()),
            _ => BenchError::io("start java")(error),
        })?;
        let commands = process.stdin.take().ok_or(BenchError::Panicked)?;
        let answers = process.stdout.take().ok_or(BenchError::Panicked)?;
        Ok(Self {
            process,
            commands,
            answers: BufReader::new(answers),
            producers,
        })
    }

    fn say(&mut self, line: &str) -> Result<(), BenchError> {
        writeln!(self.commands, "{line}")
            .and_then(|()| self.commands.flush())
            .map_err(BenchError::io("command java"))
    }

    fn hear(&mut self) -> Result<String, BenchError> {
        let mut line = String::new();
        self.answers
            .read_line(&mut line)
            .map_err(BenchError::io("hear from java"))?;
        Ok(line.trim().to_owned())
    }

    fn round(&mut self, ops: u64) -> Result<Sample, BenchError> {
        let each = ops / self.producers as u64;
        let ops = each * self.producers as u64;
        self.say(&each.to_string())?;
        let ready = self.hear()?;
        if ready != "ready" {
            return Err(said(&ready));
        }
        let begun_ns = process_cpu_ns(self.process.id())?;
        self.say("go")?;
        let line = self.hear()?;
        let cpu_ns = process_cpu_ns(self.process.id())? - begun_ns;
        let figures: Vec<u64> = line
            .split(' ')
            .map_while(|word| word.parse().ok())
            .collect();
        let [wall_ns, count, misplaced, sum] = figures[..] else {
            return Err(said(&line));
        };
        BenchError::check("values received", ops, count)?;
        BenchError::check("values out of order", 0, misplaced)?;
        let numbers = each * each.saturating_sub(1) / 2 * self.producers as u64;
        BenchError::check("sum of the values", numbers, sum)?;
        Ok(Spent::of_other(ops, wall_ns, cpu_ns)
            .wall_sample()
            .with_remark("threads not pinned"))
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // It may have ended already; either way it is gone and reaped after this.
        if let Err(error) = self.process.kill().and_then(|()| self.process.wait()) {
            eprintln!("java: {error}");
        }
    }
}

fn said(line: &str) -> BenchError {
    BenchError::runtime("java")(format!("answered {line:?}"))
}

fn round(params: &Params, producers: usize) -> Result<Sample, BenchError> {
    let mut machine = MACHINE.lock().map_err(|_| BenchError::Panicked)?;
    let running = match machine.take() {
        Some(running) => running,
        None => Machine::start(producers)?,
    };
    machine.insert(running).round(params.ops)
}
