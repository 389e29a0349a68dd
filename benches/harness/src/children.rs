//! Twin processes: one a side of a row, alive for all its rounds.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::twin::{Answer, Listed, Mark};
use crate::{BenchError, Client, Cores, Driven, Kind, RowSpec, Sample, churn, pin};

/// A round that takes longer has hung.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// Asks a twin which rows it has.
pub(crate) fn list(exe: &Path) -> Result<Vec<Listed>, BenchError> {
    let output = Command::new(exe)
        .arg("list")
        .stderr(Stdio::inherit())
        .output()
        .map_err(BenchError::io("start a twin"))?;
    serde_json::from_slice(&output.stdout).map_err(|error| BenchError::Twin {
        who: exe.display().to_string(),
        answer: error.to_string(),
    })
}

/// One side of a row in its own process, ended when this is dropped.
pub(crate) struct Side {
    who: String,
    ops: u64,
    process: Child,
    commands: ChildStdin,
    lines: Receiver<String>,
    port: Option<u16>,
}

impl Side {
    /// Starts `exe` for one entry.
    pub(crate) fn start(
        exe: &Path,
        spec: &RowSpec,
        entry: &Listed,
        quick: bool,
        shards: usize,
    ) -> Result<Self, BenchError> {
        let mut command = Command::new(exe);
        command.args(["serve", spec.suite, spec.row, &entry.who]);
        command.args(["--shards", &shards.to_string()]);
        if quick {
            command.arg("--quick");
        }
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(BenchError::io("start a twin"))?;
        let commands = process.stdin.take().expect("standard input is piped");
        let answers = process.stdout.take().expect("standard output is piped");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            // Ends with the pipe, or when nobody reads any more.
            let whole_lines = BufReader::new(answers).lines().map_while(Result::ok);
            whole_lines
                .map_while(|line| sender.send(line).ok())
                .for_each(drop);
        });
        let ops = spec.round_ops(quick) / entry.ops_divisor;
        let mut side = Self {
            who: entry.who.clone(),
            ops,
            process,
            commands,
            lines,
            port: None,
        };
        if spec.kind != Kind::Round {
            side.port = match side.answer()? {
                Answer::Port(port) => Some(port),
                other => return Err(side.unexpected(&other)),
            };
        }
        Ok(side)
    }

    /// Does one round: here with the neutral client where the twin serves, else in the twin.
    pub(crate) fn round(&mut self, spec: &RowSpec, cores: Cores) -> Result<Sample, BenchError> {
        let Some(port) = self.port else {
            return match self.ask()? {
                Answer::Sample(sample) => Ok(sample),
                Answer::Absent(what) => Err(BenchError::Absent(what)),
                other => Err(self.unexpected(&other)),
            };
        };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let loaded = std::thread::scope(|scope| {
            let client = scope.spawn(|| {
                pin(cores.second)?;
                self.load(spec, address)
            });
            client.join().unwrap_or(Err(BenchError::Panicked))
        });
        let (start, end, driven) = loaded?;
        let memory = end.memory;
        let ops = driven.requests;
        let spent = start
            .meter
            .until(end.meter, ops, memory.peak_rss_kib, memory.threads);
        let mut sample = spent
            .cpu_sample()
            .with_latency(&driven.latency_ns)
            .with_extra("requests/s", driven.per_second());
        sample.remark = end.remark;
        if end.enters > start.enters {
            let per_request = |from: u64, to: u64| (to - from) as f64 / ops as f64;
            sample = sample
                .with_extra("enters/request", per_request(start.enters, end.enters))
                .with_extra(
                    "completions/request",
                    per_request(start.completions, end.completions),
                );
        }
        Ok(sample)
    }

    fn load(
        &mut self,
        spec: &RowSpec,
        address: SocketAddr,
    ) -> Result<(Mark, Mark, Driven), BenchError> {
        let warmup = (self.ops / 10).max(1);
        match spec.kind {
            Kind::Serve { connections, bytes } => {
                let mut client = Client::connect(address, connections, bytes)?;
                client.drive(warmup)?;
                let start = self.mark()?;
                let driven = client.drive(self.ops)?;
                Ok((start, self.mark()?, driven))
            }
            Kind::Churn { connections } => {
                churn(address, connections, warmup)?;
                let start = self.mark()?;
                let driven = churn(address, connections, self.ops)?;
                Ok((start, self.mark()?, driven))
            }
            Kind::Round => Err(BenchError::Unknown(format!("{} is not served", spec.row))),
        }
    }

    fn mark(&mut self) -> Result<Mark, BenchError> {
        match self.ask()? {
            Answer::Mark(mark) => Ok(mark),
            other => Err(self.unexpected(&other)),
        }
    }

    fn ask(&mut self) -> Result<Answer, BenchError> {
        self.commands
            .write_all(b"go\n")
            .map_err(BenchError::io("command a twin"))?;
        self.answer()
    }

    fn answer(&mut self) -> Result<Answer, BenchError> {
        let line = self
            .lines
            .recv_timeout(ANSWER_TIMEOUT)
            .map_err(|error| BenchError::Twin {
                who: self.who.clone(),
                answer: format!("nothing: {error}"),
            })?;
        serde_json::from_str(&line).map_err(|_| BenchError::Twin {
            who: self.who.clone(),
            answer: line,
        })
    }

    fn unexpected(&self, answer: &Answer) -> BenchError {
        let answer = match answer {
            Answer::Failed(reason) => reason.clone(),
            other => format!("{other:?}"),
        };
        BenchError::Twin {
            who: self.who.clone(),
            answer,
        }
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // It may have ended already; either way it is gone and reaped after this.
        if let Err(error) = self.process.kill().and_then(|()| self.process.wait()) {
            eprintln!("{}: {error}", self.who);
        }
    }
}
