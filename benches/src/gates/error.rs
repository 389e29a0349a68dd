//! Why a row has no count.

use std::io;
use std::path::PathBuf;

use corelane_bench_harness::BenchError;

/// Why a row was not counted, or not held to its limits.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GateError {
    /// The command line names no row and count.
    #[error("usage: gate ROW N")]
    Usage,
    /// No row is called that.
    #[error("no row is called {0}")]
    Row(String),
    /// The row's own check failed, or the runtime did.
    #[error(transparent)]
    Bench(#[from] BenchError),
    /// A program did not start: is it installed?
    #[error("{program} does not start")]
    Start {
        /// Which one.
        program: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A program ended with a failure; these are its last words.
    #[error("{program} failed: {words}")]
    Failed {
        /// Which one.
        program: PathBuf,
        /// The end of its standard error.
        words: String,
    },
    /// A file could not be read or removed.
    #[error("{path}")]
    File {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A program wrote something that this one does not understand.
    #[error("{program} wrote {line:?}")]
    Output {
        /// Which one.
        program: &'static str,
        /// Its line.
        line: String,
    },
    /// Counts of single instructions do not add up to the profile's own total.
    #[error("the profile counts {listed} of {total} instructions")]
    Total {
        /// The sum of the lines.
        listed: u64,
        /// The total.
        total: u64,
    },
    /// Instructions ran in memory that belongs to no file, so nobody knows what they are.
    #[error("{0} instructions ran outside of every file")]
    Nowhere(u64),
    /// The table of limits is not one.
    #[error("benches/gates.toml: {0}")]
    Table(#[from] toml::de::Error),
    /// Rows and table do not match.
    #[error("benches/gates.toml: {0}")]
    Rows(String),
    /// Counting locks needs to know the instructions of the machine.
    #[error("instructions are known for x86-64 only")]
    Machine,
}
