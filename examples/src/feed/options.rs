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
mod tests {
    use super::*;

    fn read(args: &str) -> Result<Options, Unstarted> {
        Options::from_args(["market-feed"].into_iter().chain(args.split_whitespace()))
    }

    const HASH: &str = "C16F563D045838D7C4FB8F299EEF71B29FADD299D1CC008065F55DB839AA4885";

    #[test]
    fn every_option_is_read() {
        let replay = format!(
            "--replay a.gz b.gz --serve 127.0.0.1:0 --seconds 1.5 --speed 100x --shards 4 \
             --driver uring --idle spin --strict --json out.json --expect-sha256 A={HASH} \
             --expect-sha256 B={HASH}"
        );
        let options = read(&replay).unwrap();
        assert_eq!(options.replay, ["a.gz", "b.gz"].map(PathBuf::from));
        assert_eq!(options.serve, Some("127.0.0.1:0".parse().unwrap()));
        assert_eq!(
            (options.duration(), options.speed()),
            (Some(Duration::from_millis(1_500)), Speed::Times(100.0))
        );
        assert_eq!((options.shards, options.strict), (Some(4), true));
        assert_eq!((options.driver, options.idle), (Driver::Uring, Idle::Spin));
        assert_eq!(options.json, Some("out.json".into()));
        assert_eq!(options.expect_sha256.len(), 2);
        assert_eq!(options.expect_sha256[1].sha256, HASH.to_lowercase());
        assert_eq!(read("--seed 7").unwrap().seed, 7);
        let control = read("--limit ES=1:2 --limit NQ=3:4 --control 127.0.0.1:1").unwrap();
        assert_eq!(
            control.limit,
            ["ES=1:2", "NQ=3:4"].map(|text| text.parse().unwrap())
        );
        assert_eq!(control.control, Some("127.0.0.1:1".parse().unwrap()));
        let trades = read("--trades-overflow drop-new --trades-capacity 9").unwrap();
        assert_eq!(
            (trades.trades_overflow, trades.trades_capacity),
            (Overflow::DropNew, 9)
        );
        let sweep = read("--sweep --sweep-updates 10 --json o").unwrap();
        assert_eq!(
            (sweep.sweep, sweep.sweep_updates, sweep.sweep_rounds),
            (true, 10, 9)
        );
        assert_eq!(
            read("--listen [::1]:9").unwrap().listen,
            Some("[::1]:9".parse().unwrap())
        );
        assert_eq!(
            read("--idle spin-then-park").unwrap().idle,
            Idle::SpinThenPark
        );
    }

    #[test]
    fn without_options_the_embedded_feed_runs_at_full_speed() {
        let options = read("").unwrap();
        assert!(options.replay.is_empty() && options.listen.is_none() && options.serve.is_none());
        assert_eq!(
            (options.driver, options.idle),
            (Driver::Auto, Idle::SpinThenPark)
        );
        assert_eq!(
            (options.speed(), options.seed, options.shards),
            (Speed::Max, 1, None)
        );
        assert_eq!(options.duration(), Some(Duration::from_secs(10)));
    }

    #[test]
    fn only_the_embedded_feed_slows_down_for_subscribers_and_ends_by_itself() {
        let served = "--serve 127.0.0.1:0";
        for (args, speed, duration) in [
            (served.to_owned(), Speed::Times(1.0), Some(10)),
            (format!("{served} --speed max"), Speed::Max, Some(10)),
            (format!("{served} --replay a"), Speed::Max, None),
            (format!("{served} --listen 127.0.0.1:0"), Speed::Max, None),
            (
                format!("{served} --replay a --seconds 3"),
                Speed::Max,
                Some(3),
            ),
        ] {
            let options = read(&args).unwrap();
            assert_eq!(options.speed(), speed, "{args}");
            assert_eq!(
                options.duration(),
                duration.map(Duration::from_secs),
                "{args}"
            );
        }
    }

    #[test]
    fn a_bad_command_line_is_one_line_that_names_the_part() {
        for (args, named) in [
            ("--bogus", "--bogus"),
            ("stray", "stray"),
            ("--shards 0", "--shards"),
            ("--shards 1025", "1 to 1024"),
            ("--shards two", "two"),
            ("--seconds 0", "--seconds"),
            ("--seconds NaN", "NaN"),
            ("--seconds 1e300", "--seconds"),
            ("--replay a --speed 0x", "--speed"),
            ("--speed 2x --listen 127.0.0.1:1", "--listen"),
            (
                "--trades-overflow lose",
                "backpressure, drop-new, drop-oldest",
            ),
            ("--trades-capacity 0", "1 to 1048576"),
            ("--limit ES=1", "SYMBOL=ORDER:POSITION"),
            ("--control here", "--control"),
            ("--driver kqueue", "auto, uring, epoll"),
            ("--idle nap", "park, spin-then-park, spin"),
            ("--listen here", "--listen"),
            ("--serve 127.0.0.1", "--serve"),
            ("--replay", "--replay"),
            ("--replay a --listen 127.0.0.1:1", "--listen"),
            ("--replay a --seed 1", "--seed"),
            ("--expect-sha256 A", "SYMBOL=HEX"),
            ("--expect-sha256 A=12", "64 hexadecimal digits"),
            ("--expect-sha256 =12", "a symbol has no name"),
            ("--json", "--json"),
            ("--sweep --replay a", "--replay"),
            ("--sweep --seconds 1", "--seconds"),
            ("--sweep-rounds 3", "--sweep"),
            ("--sweep --sweep-updates 0", "above zero"),
        ] {
            let refused = read(args).expect_err(args);
            assert_eq!(refused.status, 2, "{args}");
            let Unstarted { text, .. } = refused;
            assert!(
                text.contains(named) && !text.contains('\n'),
                "{args}: {text}"
            );
        }
    }

    #[test]
    fn help_is_no_error() {
        for args in ["--help", "--version"] {
            let shown = read(args).unwrap_err();
            assert_eq!(shown.status, 0);
            assert!(shown.text.contains("market-feed"), "{}", shown.text);
        }
    }
}
