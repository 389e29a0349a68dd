//! From the command line to the exit status.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use corelane::Runtime;
use corelane_primitives::Consumer;
use serde::Serialize;

use super::console::Console;
use super::failure::Failure;
use super::head::{Ended, serve};
use super::reader::{self, Piece};
use super::recorder::Tape;
use crate::feed::Options;
use crate::sweep::{Settings, Sweep};

/// Runs the service as `options` say, shows its report, and gives the status to end with.
///
/// Zero is a run without trouble; one a book with another hash than was expected; two an input, a
/// file or an address that is of no use, or with `strict` a malformed line. What had been applied
/// by then is reported all the same.
pub fn run(options: &Options) -> ExitCode {
    match try_run(options) {
        Ok(status) => status,
        Err(failure) => {
            warn(&failure.line());
            ExitCode::from(2)
        }
    }
}

fn try_run(options: &Options) -> Result<ExitCode, Failure> {
    // Before the work, so that a name that cannot be written costs no run.
    let json = match &options.json {
        Some(path) => Some((path, create(path)?)),
        None => None,
    };
    if options.sweep {
        return sweep(options, json);
    }
    let console = Console::start().map_err(|source| Failure::Thread("console", source))?;
    let readers = start_readers(options)?;
    let tape = options.record.clone().map(Tape::start).transpose()?;
    let (voice, owned) = (console.voice(), options.clone());
    let ended = builder(options)
        .run(move || serve(owned, readers, tape, voice))
        .map_err(Failure::Start);
    console.finish();
    let Ended { report, failed } = ended??;

    show(&report).map_err(Failure::Output)?;
    if let Some((path, file)) = json {
        write_json(file, &report).map_err(|source| unwritable(path, source))?;
    }
    let mut differs = false;
    for expected in &options.expect_sha256 {
        if let Err(mismatch) = expected.check(&report.books) {
            warn(&mismatch.to_string());
            differs = true;
        }
    }
    Ok(match (failed, differs) {
        (true, _) => ExitCode::from(2),
        (false, true) => ExitCode::from(1),
        (false, false) => ExitCode::SUCCESS,
    })
}

fn sweep(options: &Options, json: Option<(&PathBuf, File)>) -> Result<ExitCode, Failure> {
    let (updates, rounds) = (options.sweep_updates, options.sweep_rounds);
    let settings = Settings { updates, rounds };
    let sweep = Sweep::run(settings, |round| {
        warn(&format!("round {round} of {rounds}"));
    })
    .map_err(Failure::Sweep)?;
    show(&sweep).map_err(Failure::Output)?;
    if let Some((path, file)) = json {
        write_json(file, &sweep).map_err(|source| unwritable(path, source))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn builder(options: &Options) -> corelane::Builder {
    let builder = Runtime::builder()
        .driver(options.driver.into())
        .idle(options.idle.into());
    match options.shards {
        Some(shards) => builder.shards(shards),
        None => builder,
    }
}

fn start_readers(options: &Options) -> Result<Vec<(PathBuf, Consumer<Piece>)>, Failure> {
    let paths = options.replay.iter().cloned();
    paths
        .map(|path| {
            let pieces =
                reader::start(path.clone()).map_err(|source| Failure::Thread("reader", source))?;
            Ok((path, pieces))
        })
        .collect()
}

/// Writes the closing report. Who has stopped reading, as in `| head`, wants no more of it.
fn show(report: &impl Display) -> io::Result<()> {
    let text = report.to_string();
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn create(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(|source| unwritable(path, source))
}

fn unwritable(path: &Path, source: io::Error) -> Failure {
    Failure::File {
        path: path.to_owned(),
        source,
    }
}

fn write_json(mut file: File, report: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut file, report)?;
    file.write_all(b"\n")
}

fn warn(text: &str) {
    // Nobody is left to be told when standard error is gone.
    let _ = writeln!(io::stderr(), "market-feed: {text}");
}
