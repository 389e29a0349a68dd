//! A market feed on every core: decoded, sent over lanes, built into order books, served over TCP.
//!
//! `cargo run --release --bin market-feed -- --help` lists what it can do.

#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::process::ExitCode;

use corelane_examples::feed::{Options, Unstarted};
use corelane_examples::service;
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .init();
    match Options::from_args(std::env::args_os()) {
        Ok(options) => service::run(&options),
        Err(unstarted) => refuse(&unstarted),
    }
}

fn refuse(Unstarted { text, status }: &Unstarted) -> ExitCode {
    // Nobody is left to be told when the stream is gone.
    let _ = match status {
        0 => writeln!(io::stdout(), "{}", text.trim_end()),
        _ => writeln!(io::stderr(), "market-feed: {text}"),
    };
    ExitCode::from(*status)
}
