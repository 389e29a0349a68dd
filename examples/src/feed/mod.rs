//! The market feed: everything of the service that needs neither a runtime nor a socket.
//!
//! Bytes of an input become lines, lines become updates, updates build order books, and books give
//! what subscribers and reports show. Each part is a plain value that one shard owns; the binary
//! `market-feed` puts them on shards and lanes.
//!
//! ```
//! use corelane_examples::feed::{Books, Decoder, Generator, KEPT_UPDATES_MAX, write_line};
//!
//! let mut text = Vec::new();
//! for update in Generator::new(1).take(1000) {
//!     write_line(&mut text, 0, &update)?;
//! }
//! let (mut decoder, mut books) = (Decoder::default(), Books::new(KEPT_UPDATES_MAX));
//! let mut chunk = &text[..];
//! while let Some(received) = decoder.decode(&mut chunk) {
//!     books.apply(received?.update)?;
//! }
//! assert!(books.iter().all(|book| book.is_current() && book.counts().gaps == 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod best;
mod book;
mod command;
mod counts;
mod decimal;
mod decode;
mod expected;
mod figures;
mod generator;
mod gzip;
mod host;
mod input;
mod instrument;
mod limits;
mod line;
mod live;
mod options;
mod pipeline;
mod random;
mod render;
mod report;
mod rings;
mod risk;
mod serve;
mod speed;
mod symbol;
mod text;
mod update;
mod wire;

pub use self::{
    best::{BEST_WORDS, Best},
    book::{Book, BookCounts, Change, KEPT_UPDATES_MAX, Top},
    command::{COMMAND_BYTES_MAX, Command, CommandError, Recording},
    counts::{
        ControlReport, LimitsReport, OrdersReport, ReaderReport, RecordReport, TopsReport,
        TradesReport,
    },
    decimal::{DECIMAL_DIGITS, Decimal, DecimalError, Volume},
    decode::{Decoder, Malformed, MalformedLog},
    expected::{ExpectedHash, ExpectedHashError, HashMismatch},
    generator::{Generator, LEVELS_SHOWN},
    host::{Driver, Idle, Overflow},
    input::{CHUNK_BYTES, InputEnd, InputError, read_input},
    instrument::{INSTRUMENTS, Instrument, InstrumentId},
    limits::{LIMITS_MAX, Limit, Limits, NamedLimit, NamedLimitError},
    line::{LINE_BYTES_MAX, Line, LineFramer},
    live::LiveLine,
    options::{EMBEDDED_SECONDS, Options, SHARDS_MAX, TRADES_CAPACITY, Unstarted},
    pipeline::{Ages, BOOKS_MAX, Books, BooksFull, Instruments, ShardSummary, shard_of},
    render::write_line,
    report::{AgeReport, BookReport, DriverReport, Report, SubscriberReport},
    rings::{FillLosses, HoleReport, RingReport, RingsLine},
    risk::Risk,
    serve::{OUTBOX_BYTES_MAX, Outbox, TooSlow, write_top, write_trade},
    speed::{Speed, SpeedError},
    symbol::{SYMBOL_BYTES_MAX, Symbol, SymbolError},
    update::{Depth, Level, Levels, Received, Snapshot, Ticker, Trade, Update},
    wire::LineError,
};
