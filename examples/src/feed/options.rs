//! The command line of the service.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

use super::{Driver, ExpectedHash, Idle, NamedLimit, Overflow, Speed};
use crate::sweep::{ROUNDS, UPDATES};

/// Builds order books from a market feed on every core, and serves them.
///
/// Without an input the embedded feed of five futures runs.
///
/// ```
/// use corelane_examples::feed::{Driver, Options, Speed};
///
/// let options = Options::from_args(["market-feed", "--driver", "epoll"])?;
/// assert_eq!(options.driver, Driver::Epoll);
/// assert_eq!(options.speed(), Speed::Max);
/// # Ok::<(), corelane_examples::feed::Unstarted>(())
/// ```
#[derive(Clone, Debug, Parser)]
// Its own text for --help: that of the documentation has an example.
#[command(
    name = "market-feed",
    version,
    long_about = "Builds order books from a market feed on every core, and serves them.\n\n\
                  Without an input the embedded feed of five futures runs."
)]
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

    /// Ends after so many seconds; else at the end of the replay or on Ctrl-C, and the embedded
    /// feed after 10
    #[arg(long, value_name = "N", value_parser = positive_seconds)]
    pub seconds: Option<f64>,

    /// How many times faster than recorded: 1x, 100x, max. The embedded feed's 1x is 50,000
    /// updates a second; it is the default with --serve, else max is
    #[arg(long, value_name = "Nx|max", conflicts_with = "listen")]
    pub speed: Option<Speed>,

    /// How many shards; one a physical core by default
    #[arg(long, value_name = "N", value_parser = shard_count)]
    pub shards: Option<usize>,

    /// The I/O driver
    #[arg(long, value_enum, default_value_t)]
    pub driver: Driver,

    /// What a shard without work does
    #[arg(long, value_enum, default_value_t)]
    pub idle: Idle,

    /// What becomes of a trade for which a shard that reads them has no room
    #[arg(long, value_name = "POLICY", value_enum, default_value_t)]
    pub trades_overflow: Overflow,

    /// How many trades a shard that reads them may be behind
    #[arg(long, value_name = "N", default_value_t = TRADES_CAPACITY,
        value_parser = trades_capacity)]
    pub trades_capacity: usize,

    /// A risk limit: the largest order and the largest position of a symbol; may be repeated
    #[arg(long, value_name = "SYMBOL=ORDER:POSITION")]
    pub limit: Vec<NamedLimit>,

    /// Writes trades to a file, as subscribers get them
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,

    /// Takes commands over TCP, a line each: limit SYMBOL ORDER POSITION, snapshot,
    /// record start|stop, stop
    #[arg(long, value_name = "ADDR")]
    pub control: Option<SocketAddr>,

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

    /// Measures what a ring's capacity means in time, on threads of its own, and shows the table
    #[arg(long, conflicts_with_all = [
        "replay", "listen", "serve", "seconds", "speed", "shards", "seed", "expect_sha256",
        "trades_overflow", "trades_capacity", "limit", "control", "record",
    ])]
    pub sweep: bool,

    /// Updates of each run of the sweep
    #[arg(long, value_name = "N", default_value_t = UPDATES, requires = "sweep",
        value_parser = at_least_one)]
    pub sweep_updates: usize,

    /// Rounds of the sweep, whose medians are shown
    #[arg(long, value_name = "N", default_value_t = ROUNDS, requires = "sweep",
        value_parser = at_least_one)]
    pub sweep_rounds: usize,
}

impl Options {
    /// Reads a command line, whose first part is the name of the program.
    ///
    /// # Errors
    ///
    /// [`Unstarted`] when the command line asks for help, or is not one of this program; then it
    /// names the part that is wrong in one line.
    pub fn from_args<T>(args: impl IntoIterator<Item = T>) -> Result<Self, Unstarted>
    where
        T: Into<OsString> + Clone,
    {
        Self::try_parse_from(args).map_err(|error| {
            let text = error.to_string();
            if !error.use_stderr() {
                return Unstarted { text, status: 0 };
            }
            // The paragraphs behind the first one are usage and tips.
            let said = text
                .lines()
                .map(str::trim)
                .take_while(|line| !line.is_empty());
            Unstarted {
                text: said.collect::<Vec<_>>().join(" "),
                status: 2,
            }
        })
    }

    /// Whether the embedded feed runs, since no other input is named.
    pub fn is_embedded(&self) -> bool {
        self.replay.is_empty() && self.listen.is_none()
    }

    /// How fast the input runs.
    ///
    /// The embedded feed goes as fast as it can, but at [`Speed::Times`] one where it is served: no
    /// subscriber keeps up with all that a core can make.
    pub fn speed(&self) -> Speed {
        let default = if self.is_embedded() && self.serve.is_some() {
            Speed::Times(1.0)
        } else {
            Speed::Max
        };
        self.speed.unwrap_or(default)
    }

    /// When the run ends if nothing else ends it; [`EMBEDDED_SECONDS`] for the embedded feed, which
    /// has no end of its own.
    pub fn duration(&self) -> Option<Duration> {
        let default = self.is_embedded().then_some(EMBEDDED_SECONDS);
        self.seconds.or(default).map(Duration::from_secs_f64)
    }
}

/// How long the embedded feed runs by default, in s.
pub const EMBEDDED_SECONDS: f64 = 10.0;

/// Why the program ends before it starts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Unstarted {
    /// What is to be shown: on standard output with status zero, else on standard error.
    pub text: String,
    /// The status to end with: zero for help and version, two for a bad command line.
    pub status: u8,
}

/// Largest number of shards that the command line accepts.
pub const SHARDS_MAX: usize = 1024;

/// Trades that a shard may be behind by default.
pub const TRADES_CAPACITY: usize = 16_384;

/// The most that a topic takes.
const TRADES_CAPACITY_MAX: usize = 1 << 20;

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

fn trades_capacity(text: &str) -> Result<usize, String> {
    within(text, "trades", TRADES_CAPACITY_MAX)
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("not a number above zero".to_owned()),
        Ok(number) => Ok(number),
    }
}

fn shard_count(text: &str) -> Result<usize, String> {
    within(text, "shards", SHARDS_MAX)
}

fn within(text: &str, what: &str, max: usize) -> Result<usize, String> {
    let count: usize = text
        .parse()
        .map_err(|_| format!("not a number of {what}"))?;
    if (1..=max).contains(&count) {
        Ok(count)
    } else {
        Err(format!("not in 1 to {max}"))
    }
}

#[cfg(test)]
mod tests;
