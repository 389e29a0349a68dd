//! What one line says: `<receive time, ns> <JSON>`.
//!
//! Kinds of JSON are those of a Binance spot capture: a snapshot as its REST interface answers it,
//! and the stream messages `depthUpdate`, `trade` and `bookTicker`. What this service writes itself
//! adds the field `symbol` to a snapshot where one input carries several symbols.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, IgnoredAny, SeqAccess, Visitor};

use super::{Decimal, DecimalError, Depth, Level, Levels, Symbol, Ticker, Trade, Update};

/// A line as it stands, before the input gives a snapshot its symbol.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Message {
    Update(Update),
    Snapshot(BareSnapshot),
}

/// A snapshot whose symbol may have to come from its input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BareSnapshot {
    pub(crate) symbol: Option<Symbol>,
    pub(crate) last_update_id: u64,
    pub(crate) bids: Levels,
    pub(crate) asks: Levels,
}

/// What is wrong with a line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// The line is longer than the framer's limit.
    #[error("too long: more than {line_bytes_max} bytes")]
    TooLong {
        /// The limit.
        line_bytes_max: usize,
    },
    /// No number of ns and one space stand before the JSON.
    #[error("no receive time stands before the JSON")]
    ReceiveTime,
    /// The JSON is broken, or a field of it is not what it should be.
    #[error("{}", json_reason(.0))]
    Json(#[source] serde_json::Error),
    /// A message of a kind that the feed does not know.
    #[error("unknown stream {0:?}")]
    UnknownStream(String),
    /// The JSON is neither a message of a stream nor a snapshot.
    #[error("neither a stream message nor a snapshot")]
    UnknownKind,
    /// A field that the kind needs is not there.
    #[error("the field {0:?} is missing")]
    Missing(&'static str),
    /// A depth update ends before it starts.
    #[error("the first id {first_id} is behind the last id {last_id}")]
    IdOrder {
        /// `U` of the update.
        first_id: u64,
        /// `u` of the update.
        last_id: u64,
    },
    /// A snapshot names no symbol, and its input does not have exactly one.
    #[error("a snapshot without a symbol, in an input that does not have exactly one")]
    SnapshotSymbol,
}

/// The JSON is always one line, whose number in the input the reader is told already.
fn json_reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((what, _)) => format!("{what}, at byte {} of the JSON", error.column()),
        None => text,
    }
}

/// Parses one line. The cost is one pass, and one allocation a side that has levels.
pub(crate) fn parse_line(line: &[u8]) -> Result<(u64, Message), LineError> {
    let space = line
        .iter()
        .position(|byte| *byte == b' ')
        .ok_or(LineError::ReceiveTime)?;
    let received_ns = parse_ns(&line[..space])?;
    let json = &line[space + 1..];
    // What derives from serde would take an array of a message's fields too.
    if json.first() == Some(&b'[') {
        return Err(LineError::UnknownKind);
    }
    let wire: Wire = match serde_json::from_slice(json) {
        Ok(wire) => wire,
        Err(error) => return Err(what_kept(json, error)),
    };
    Ok((received_ns, wire.message()?))
}

/// A message of an unknown stream may have fields of other types; then the stream is the reason.
fn what_kept(json: &[u8], error: serde_json::Error) -> LineError {
    match serde_json::from_slice(json) {
        Ok(Header {
            stream: Some(Stream::Unknown(name)),
        }) => LineError::UnknownStream(name),
        Ok(_) | Err(_) => LineError::Json(error),
    }
}

fn parse_ns(digits: &[u8]) -> Result<u64, LineError> {
    if !digits.iter().all(u8::is_ascii_digit) {
        return Err(LineError::ReceiveTime);
    }
    let digits = std::str::from_utf8(digits).map_err(|_| LineError::ReceiveTime)?;
    digits.parse().map_err(|_| LineError::ReceiveTime)
}

#[derive(serde::Deserialize)]
struct Header {
    stream: Option<Stream>,
}

#[derive(serde::Deserialize)]
struct Wire {
    stream: Option<Stream>,
    data: Option<Data>,
    symbol: Option<Symbol>,
    #[serde(rename = "lastUpdateId")]
    last_update_id: Option<u64>,
    bids: Option<LevelList>,
    asks: Option<LevelList>,
}

impl Wire {
    fn message(self) -> Result<Message, LineError> {
        if let Some(last_update_id) = self.last_update_id {
            return Ok(Message::Snapshot(BareSnapshot {
                symbol: self.symbol,
                last_update_id,
                bids: self.bids.ok_or(LineError::Missing("bids"))?.0,
                asks: self.asks.ok_or(LineError::Missing("asks"))?.0,
            }));
        }
        let stream = self.stream.ok_or(LineError::UnknownKind)?;
        let data = self.data.ok_or(LineError::Missing("data"))?;
        Ok(Message::Update(match stream {
            Stream::Depth => Update::Depth(data.depth()?),
            Stream::Trade => Update::Trade(data.trade()?),
            Stream::Ticker => Update::Ticker(data.ticker()?),
            Stream::Unknown(name) => return Err(LineError::UnknownStream(name)),
        }))
    }
}

/// The fields of all known messages, since a message does not say its kind before its fields.
#[derive(serde::Deserialize)]
struct Data {
    s: Option<Symbol>,
    #[serde(rename = "U")]
    first_id: Option<u64>,
    #[serde(rename = "u")]
    last_id: Option<u64>,
    b: Option<Side>,
    a: Option<Side>,
    #[serde(rename = "B")]
    bid_quantity: Option<Quantity>,
    #[serde(rename = "A")]
    ask_quantity: Option<Quantity>,
    #[serde(rename = "t")]
    trade_id: Option<u64>,
    p: Option<Price>,
    q: Option<Quantity>,
}

impl Data {
    fn depth(self) -> Result<Depth, LineError> {
        let first_id = self.first_id.ok_or(LineError::Missing("U"))?;
        let last_id = self.last_id.ok_or(LineError::Missing("u"))?;
        if first_id > last_id {
            return Err(LineError::IdOrder { first_id, last_id });
        }
        let levels = |side, name| match side {
            Some(Side::Levels(LevelList(levels))) => Ok(levels),
            Some(Side::Price(_)) | None => Err(LineError::Missing(name)),
        };
        Ok(Depth {
            symbol: self.s.ok_or(LineError::Missing("s"))?,
            first_id,
            last_id,
            bids: levels(self.b, "b")?,
            asks: levels(self.a, "a")?,
        })
    }

    fn trade(self) -> Result<Trade, LineError> {
        Ok(Trade {
            symbol: self.s.ok_or(LineError::Missing("s"))?,
            id: self.trade_id.ok_or(LineError::Missing("t"))?,
            price: self.p.ok_or(LineError::Missing("p"))?.0,
            quantity: self.q.ok_or(LineError::Missing("q"))?.0,
        })
    }

    fn ticker(self) -> Result<Ticker, LineError> {
        let price = |side, name| match side {
            Some(Side::Price(price)) => Ok(price),
            Some(Side::Levels(_)) | None => Err(LineError::Missing(name)),
        };
        Ok(Ticker {
            symbol: self.s.ok_or(LineError::Missing("s"))?,
            id: self.last_id.ok_or(LineError::Missing("u"))?,
            bid: Level {
                price: price(self.b, "b")?,
                quantity: self.bid_quantity.ok_or(LineError::Missing("B"))?.0,
            },
            ask: Level {
                price: price(self.a, "a")?,
                quantity: self.ask_quantity.ok_or(LineError::Missing("A"))?.0,
            },
        })
    }
}

/// What kind of message the name of a stream promises: `btcusdt@depth@100ms` promises depth.
enum Stream {
    Depth,
    Trade,
    Ticker,
    Unknown(String),
}

impl<'de> Deserialize<'de> for Stream {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text(|name: &str| {
            Ok::<_, DecimalError>(match name.split('@').nth(1) {
                Some("depth") => Self::Depth,
                Some("trade") => Self::Trade,
                Some("bookTicker") => Self::Ticker,
                Some(_) | None => Self::Unknown(name.chars().take(STREAM_CHARS_SHOWN).collect()),
            })
        }))
    }
}

/// A name from outside is shown in full only as long as it fits a line of a terminal.
const STREAM_CHARS_SHOWN: usize = 40;

struct Price(Decimal);

impl<'de> Deserialize<'de> for Price {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text(Decimal::parse)).map(Self)
    }
}

struct Quantity(Decimal);

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_str(Text(Decimal::parse_unsigned))
            .map(Self)
    }
}

impl<'de> Deserialize<'de> for Symbol {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text(str::parse))
    }
}

/// Turns a JSON string into a value without owning the string.
struct Text<F>(F);

impl<T, E: fmt::Display, F: FnOnce(&str) -> Result<T, E>> Visitor<'_> for Text<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<R: de::Error>(self, text: &str) -> Result<T, R> {
        (self.0)(text).map_err(R::custom)
    }
}

struct LevelList(Levels);

impl<'de> Deserialize<'de> for LevelList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_seq(SideVisitor)? {
            Side::Levels(levels) => Ok(levels),
            Side::Price(_) => Err(de::Error::custom("levels are an array")),
        }
    }
}

/// `b` and `a` are arrays of levels in a depth update and one price in a ticker.
enum Side {
    Price(Decimal),
    Levels(LevelList),
}

impl<'de> Deserialize<'de> for Side {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SideVisitor)
    }
}

struct SideVisitor;

impl<'de> Visitor<'de> for SideVisitor {
    type Value = Side;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("levels or a price")
    }

    fn visit_str<R: de::Error>(self, text: &str) -> Result<Side, R> {
        Decimal::parse(text).map(Side::Price).map_err(R::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Side, A::Error> {
        let mut levels = Levels::new();
        while let Some(Pair(level)) = sequence.next_element()? {
            levels.push(level);
        }
        Ok(Side::Levels(LevelList(levels)))
    }
}

/// A level is an array that starts with a price and a quantity.
struct Pair(Level);

impl<'de> Deserialize<'de> for Pair {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(PairVisitor)
    }
}

struct PairVisitor;

impl<'de> Visitor<'de> for PairVisitor {
    type Value = Pair;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a price and a quantity")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Pair, A::Error> {
        let missing = |count| de::Error::invalid_length(count, &self);
        let Price(price) = sequence.next_element()?.ok_or_else(|| missing(0))?;
        let Quantity(quantity) = sequence.next_element()?.ok_or_else(|| missing(1))?;
        // Older messages of the venue carry an empty array as a third element.
        while sequence.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Pair(Level { price, quantity }))
    }
}
