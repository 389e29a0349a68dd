//! The command line of the service.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Parser, ValueEnum};

use super::{Speed, Symbol, SymbolError};

/// Builds order books from a market feed on every core, and serves them.
///
/// Without an input the embedded feed of five futures runs.
///
/// ```
/// use clap::Parser;
/// use corelane_examples::feed::{Driver, Options, Speed};
///
/// let options = Options::try_parse_from(["market-feed", "--driver", "epoll"])?;
/// assert_eq!(options.driver, Driver::Epoll);
/// assert_eq!(options.speed, Speed::Max);
/// # Ok::<(), clap::Error>(())
/// ```
#[derive(Clone, Debug, Parser)]
#[command(name = "market-feed", version)]
pub struct Options {
    /// Replays recorded feeds, plain or gzip, each with a reader of its own
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "listen")]
    pub replay: Vec<PathBuf>,

    /// Receives the same lines over TCP
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<SocketAddr>,

    /// Serves best prices and trades as JSON lines over TCP
    #[arg(long, value_name = "ADDR")]
    pub serve: Option<SocketAddr>,

    /// Ends after so many seconds; else at the end of the replay or on Ctrl-C
    #[arg(long, value_name = "N", value_parser = positive_seconds)]
    pub seconds: Option<f64>,

    /// How many times faster than recorded: 1x, 100x, max
    #[arg(long, value_name = "Nx|max", default_value = "max")]
    pub speed: Speed,

    /// How many shards; one a physical core by default
    #[arg(long, value_name = "N", value_parser = shard_count)]
    pub shards: Option<usize>,

    /// The I/O driver
    #[arg(long, value_enum, default_value_t)]
    pub driver: Driver,

    /// What a shard without work does
    #[arg(long, value_enum, default_value_t)]
    pub idle: Idle,

    /// Ends with status 2 at the first malformed line
    #[arg(long)]
    pub strict: bool,

    /// Writes the report as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Ends with status 1 unless the book has this hash at the end; may be repeated
    #[arg(long, value_name = "SYMBOL=HEX")]
    pub expect_sha256: Vec<ExpectedHash>,

    /// The seed of the embedded feed
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with_all = ["replay", "listen"])]
    pub seed: u64,
}

/// Largest number of shards that the command line accepts.
pub const SHARDS_MAX: usize = 1024;

/// The I/O driver that is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Driver {
    /// `io_uring` where the kernel has it, else epoll
    #[default]
    Auto,
    /// `io_uring` or nothing
    Uring,
    /// epoll
    Epoll,
}

/// What a shard without work does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Idle {
    /// Sleeps at once
    Park,
    /// Spins for a short time, then sleeps
    #[default]
    SpinThenPark,
    /// Never sleeps
    Spin,
}

/// The hash that a book is to have at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedHash {
    /// Whose book.
    pub symbol: Symbol,
    /// The hash in lower-case hexadecimal digits, as [`Book::sha256`](super::Book::sha256) gives
    /// it.
    pub sha256: String,
}

impl FromStr for ExpectedHash {
    type Err = ExpectedHashError;

    fn from_str(text: &str) -> Result<Self, ExpectedHashError> {
        let (symbol, hex) = text.split_once('=').ok_or(ExpectedHashError::Form)?;
        let symbol = symbol.parse().map_err(ExpectedHashError::Symbol)?;
        if hex.len() != 64 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(ExpectedHashError::Hex);
        }
        Ok(Self {
            symbol,
            sha256: hex.to_ascii_lowercase(),
        })
    }
}

/// Why a text is no [`ExpectedHash`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExpectedHashError {
    /// There is no equals sign.
    #[error("it has the form SYMBOL=HEX")]
    Form,
    /// What stands before the equals sign is no symbol.
    #[error("{0}")]
    Symbol(#[source] SymbolError),
    /// What stands behind it is no SHA-256.
    #[error("a SHA-256 has 64 hexadecimal digits")]
    Hex,
}

fn positive_seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "not a number of seconds".to_owned())?;
    // Within a century a Duration can hold it and a clock can add it.
    let in_range = seconds > 0.0 && seconds <= 3.2e9;
    if in_range {
        Ok(seconds)
    } else {
        Err("not a number of seconds above zero".to_owned())
    }
}

fn shard_count(text: &str) -> Result<usize, String> {
    let shards: usize = text
        .parse()
        .map_err(|_| "not a number of shards".to_owned())?;
    let in_range = (1..=SHARDS_MAX).contains(&shards);
    if in_range {
        Ok(shards)
    } else {
        Err(format!("not in 1 to {SHARDS_MAX}"))
    }
}
