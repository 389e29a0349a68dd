//! Why a benchmark has no figure.

use std::io;

/// Why a row has no figure; the run goes on with the next row and ends with status 1.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// The operating system refused something.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// What the system answered.
        #[source]
        source: io::Error,
    },
    /// A result differs from what the row must give, so its time means nothing.
    #[error("{what}: expected {expected}, found {found}")]
    Check {
        /// What was compared.
        what: &'static str,
        /// What the row must give.
        expected: u64,
        /// What it gave.
        found: u64,
    },
    /// A round made no progress within its bound.
    #[error("stalled after {done} of {of}")]
    Stalled {
        /// How many operations had ended.
        done: u64,
        /// How many there should have been.
        of: u64,
    },
    /// A thread of the round ended by a panic.
    #[error("a thread of the round panicked")]
    Panicked,
    /// The machine has fewer cores than the row needs.
    #[error("the row needs {0} cores that this process may use")]
    Cores(usize),
    /// A core could not be pinned to.
    #[error("cannot pin a thread to core {0}")]
    Pin(usize),
    /// A runtime did not start or failed inside a round.
    #[error("{who}: {reason}")]
    Runtime {
        /// Whose runtime.
        who: &'static str,
        /// Its own words.
        reason: String,
    },
    /// Something that the side needs is not on this machine; the row has no figure of it.
    #[error("{0} is not installed")]
    Absent(String),
    /// The twin process spoke something unexpected, or ended.
    #[error("{who} answered {answer:?}")]
    Twin {
        /// Which side of the row.
        who: String,
        /// Its line, or what happened to it.
        answer: String,
    },
    /// A file of results is not what a run writes.
    #[error("{file} holds no results")]
    Results {
        /// Which file.
        file: String,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// Some sides of some rows gave no figure; the tables say why.
    #[error("{0} sides failed")]
    Incomplete(usize),
    /// A suite, row or side that no twin knows.
    #[error("no such row: {0}")]
    Unknown(String),
}

impl BenchError {
    /// Wraps a system error with what was tried.
    pub fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, source }
    }

    /// Wraps a system error number with what was tried.
    pub fn errno(what: &'static str) -> impl FnOnce(rustix::io::Errno) -> Self {
        move |errno| Self::Io {
            what,
            source: errno.into(),
        }
    }

    /// Wraps a runtime's own error.
    pub fn runtime<E: std::fmt::Display>(who: &'static str) -> impl FnOnce(E) -> Self {
        move |error| Self::Runtime {
            who,
            reason: error.to_string(),
        }
    }

    /// Compares a count or checksum, so that no wrong result is ever timed.
    ///
    /// # Errors
    ///
    /// [`BenchError::Check`] when the two differ.
    pub fn check(what: &'static str, expected: u64, found: u64) -> Result<(), Self> {
        if expected == found {
            return Ok(());
        }
        Err(Self::Check {
            what,
            expected,
            found,
        })
    }
}
