//! Why a run did not come to its report.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use corelane::{StartError, SubmitError};

use crate::sweep::SweepError;

/// Why a run did not come to its report.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The file of `--json` or of `--record` cannot be written.
    #[error("{}: cannot be written", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The report cannot be shown.
    #[error("standard output cannot be written")]
    Output(#[source] io::Error),
    /// The system gives no thread for the console or for a reader.
    #[error("no thread for the {0}")]
    Thread(&'static str, #[source] io::Error),
    /// No runtime.
    #[error("the runtime does not start")]
    Start(#[source] StartError),
    /// An address cannot be listened on.
    #[error("{option} {addr}: no listener there")]
    Bind {
        option: &'static str,
        addr: SocketAddr,
        #[source]
        source: io::Error,
    },
    /// SIGINT and SIGTERM cannot be caught.
    #[error("signals cannot be heard")]
    Signals(#[source] io::Error),
    /// The sweep measured nothing that counts.
    #[error("the sweep has no result")]
    Sweep(#[source] SweepError),
    /// A shard's part failed.
    #[error("shard {shard} failed")]
    Shard {
        shard: usize,
        #[source]
        source: SubmitError,
    },
}

impl Failure {
    /// The whole chain of reasons in one line.
    pub(super) fn line(&self) -> String {
        let mut line = self.to_string();
        let mut reason = self.source();
        while let Some(error) = reason {
            line.push_str(": ");
            line.push_str(&error.to_string());
            reason = error.source();
        }
        line
    }
}
