//! From the bytes of one input to its updates.
//!
//! Owner: one input. It has no socket, file or clock: bytes go in as they come, updates come out
//! one by one, so that the caller can wait for room between two of them.

use super::line::{LINE_BYTES_MAX, Line, LineFramer};
use super::wire::{BareSnapshot, LineError, Message, parse_line};
use super::{Received, Snapshot, Symbol, Update};

/// Decodes one input.
///
/// A snapshot of the venue names no symbol: it belongs to the symbol of its input. So one that
/// comes before the first symbol waits for it, and one in an input that has shown several symbols
/// is malformed.
///
/// ```
/// use corelane_examples::feed::{Decoder, Update};
///
/// let mut decoder = Decoder::default();
/// let json = r#"{"stream":"es@trade","data":{"s":"ES","t":1,"p":"6050","q":"2"}}"#;
/// let text = format!("5 {json}\n");
/// let mut chunk = text.as_bytes();
/// let received = decoder.decode(&mut chunk).unwrap()?;
/// assert!(matches!(received.update, Update::Trade(trade) if trade.symbol.as_str() == "ES"));
/// assert!(decoder.decode(&mut chunk).is_none());
/// # Ok::<(), corelane_examples::feed::Malformed>(())
/// ```
#[derive(Debug)]
pub struct Decoder {
    framer: LineFramer,
    line_bytes_max: usize,
    owner: Owner,
    // Waits for its symbol.
    unnamed: Option<Waiting>,
    // The line behind the snapshot that it gave a symbol to.
    next: Option<Received>,
}

#[derive(Debug)]
struct Waiting {
    received_ns: u64,
    line: u64,
    snapshot: BareSnapshot,
}

/// Whose snapshots the unnamed ones of an input are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Unknown,
    One(Symbol),
    Several,
}

impl Decoder {
    /// A decoder for lines of at most `line_bytes_max` bytes; [`LINE_BYTES_MAX`] is the default.
    pub fn new(line_bytes_max: usize) -> Self {
        Self {
            framer: LineFramer::new(line_bytes_max),
            line_bytes_max,
            owner: Owner::Unknown,
            unnamed: None,
            next: None,
        }
    }

    /// Gives the next update or malformed line, and takes off `chunk` what it used.
    ///
    /// `None` means that all of `chunk` is used and more bytes are needed. How the input is cut
    /// into chunks changes nothing.
    ///
    /// # Errors
    ///
    /// [`Malformed`] says what is wrong with a line; decoding goes on behind it.
    pub fn decode(&mut self, chunk: &mut &[u8]) -> Option<Result<Received, Malformed>> {
        if let Some(next) = self.next.take() {
            return Some(Ok(next));
        }
        while !chunk.is_empty() {
            let (used, line) = self.framer.split(chunk);
            let parsed = line.map(|line| parse(line, self.line_bytes_max));
            *chunk = &chunk[used..];
            if let Some(outcome) = parsed.and_then(|parsed| self.settle(parsed)) {
                return Some(outcome);
            }
        }
        None
    }

    /// Ends the input; to be called until it gives `None`.
    ///
    /// # Errors
    ///
    /// [`Malformed`] for a last line without its end that cannot be parsed, and for a snapshot that
    /// still waits for a symbol.
    pub fn finish(&mut self) -> Option<Result<Received, Malformed>> {
        if let Some(next) = self.next.take() {
            return Some(Ok(next));
        }
        let line_bytes_max = self.line_bytes_max;
        let parsed = self.framer.finish().map(|line| parse(line, line_bytes_max));
        if let Some(outcome) = parsed.and_then(|parsed| self.settle(parsed)) {
            return Some(outcome);
        }
        let Waiting { line, .. } = self.unnamed.take()?;
        Some(Err(Malformed {
            line,
            reason: LineError::SnapshotSymbol,
        }))
    }

    /// Gives every update a symbol; `None` when a snapshot has to wait for its own.
    fn settle(&mut self, parsed: Parsed) -> Option<Result<Received, Malformed>> {
        let Parsed { line, outcome } = parsed;
        match outcome {
            Err(reason) => Some(Err(Malformed { line, reason })),
            Ok((received_ns, Message::Update(update))) => {
                let received = Received {
                    received_ns,
                    line,
                    update,
                };
                Some(Ok(self.behind_unnamed(received)))
            }
            Ok((received_ns, Message::Snapshot(snapshot))) => self.settle_snapshot(Waiting {
                received_ns,
                line,
                snapshot,
            }),
        }
    }

    fn settle_snapshot(&mut self, waiting: Waiting) -> Option<Result<Received, Malformed>> {
        match (waiting.snapshot.symbol, self.owner) {
            (Some(symbol), _) => Some(Ok(self.behind_unnamed(waiting.named(symbol)))),
            (None, Owner::One(symbol)) => Some(Ok(waiting.named(symbol))),
            (None, Owner::Several) => {
                let reason = LineError::SnapshotSymbol;
                Some(Err(Malformed {
                    line: waiting.line,
                    reason,
                }))
            }
            (None, Owner::Unknown) => {
                // One place is enough: a newer book says all that an older one did.
                let Waiting { line, .. } = self.unnamed.replace(waiting)?;
                Some(Err(Malformed {
                    line,
                    reason: LineError::SnapshotSymbol,
                }))
            }
        }
    }

    /// Notes whose update this is; a snapshot that waited for that goes first.
    fn behind_unnamed(&mut self, received: Received) -> Received {
        let symbol = received.update.symbol();
        self.owner = match self.owner {
            Owner::Unknown => Owner::One(symbol),
            Owner::One(owner) if owner == symbol => Owner::One(owner),
            Owner::One(_) | Owner::Several => Owner::Several,
        };
        match self.unnamed.take() {
            Some(waiting) => {
                self.next = Some(received);
                waiting.named(symbol)
            }
            None => received,
        }
    }
}

impl Default for Decoder {
    /// A decoder for lines of at most [`LINE_BYTES_MAX`] bytes.
    fn default() -> Self {
        Self::new(LINE_BYTES_MAX)
    }
}

impl Waiting {
    fn named(self, symbol: Symbol) -> Received {
        let BareSnapshot {
            last_update_id,
            bids,
            asks,
            ..
        } = self.snapshot;
        Received {
            received_ns: self.received_ns,
            line: self.line,
            update: Update::Snapshot(Snapshot {
                symbol,
                last_update_id,
                bids,
                asks,
            }),
        }
    }
}

struct Parsed {
    line: u64,
    outcome: Result<(u64, Message), LineError>,
}

fn parse(line: Line<'_>, line_bytes_max: usize) -> Parsed {
    let outcome = match line.bytes {
        Some(bytes) => parse_line(bytes),
        None => Err(LineError::TooLong { line_bytes_max }),
    };
    Parsed {
        line: line.number,
        outcome,
    }
}

/// A line that could not be decoded.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct Malformed {
    /// Its number in its input, from one.
    pub line: u64,
    /// What is wrong with it.
    #[source]
    pub reason: LineError,
}

/// How many malformed lines there were, and what the first of them were.
///
/// Every one is counted; only so many are kept as were asked for, since a bad input can have any
/// number.
#[derive(Debug)]
pub struct MalformedLog {
    count: u64,
    shown: Vec<Malformed>,
    shown_max: usize,
}

impl MalformedLog {
    /// A log that keeps the first `shown_max` lines.
    pub fn new(shown_max: usize) -> Self {
        Self {
            count: 0,
            shown: Vec::new(),
            shown_max,
        }
    }

    /// Counts `malformed`, and gives it back for showing when it is one of the first.
    pub fn record(&mut self, malformed: Malformed) -> Option<&Malformed> {
        self.count += 1;
        if self.shown.len() == self.shown_max {
            return None;
        }
        self.shown.push(malformed);
        self.shown.last()
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The first of them.
    pub fn shown(&self) -> &[Malformed] {
        &self.shown
    }
}
