//! The lines that TCP subscribers receive.

use std::io::{self, Write};

use super::{Level, Symbol, Top, Trade};

/// Writes the best prices of a book as one JSON line.
///
/// A side without a level has null for its price and its quantity. Numbers have exactly the digits
/// of the book.
///
/// ```
/// use corelane_examples::feed::{Decimal, Level, Top, write_top};
///
/// let bid = Level { price: Decimal::parse("6050.25")?, quantity: Decimal::parse("3")? };
/// let mut out = Vec::new();
/// write_top(&mut out, "ES".parse()?, 9, &Top { bid: Some(bid), ask: None })?;
/// let line = r#"{"symbol":"ES","id":9,"bid":6050.25,"bid_qty":3,"ask":null,"ask_qty":null}"#;
/// assert_eq!(out, format!("{line}\n").as_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Those of `out`.
pub fn write_top(out: &mut impl Write, symbol: Symbol, id: u64, top: &Top) -> io::Result<()> {
    write!(out, r#"{{"symbol":"{symbol}","id":{id},"#)?;
    match top.bid {
        Some(Level { price, quantity }) => write!(out, r#""bid":{price},"bid_qty":{quantity},"#)?,
        None => write!(out, r#""bid":null,"bid_qty":null,"#)?,
    }
    match top.ask {
        Some(Level { price, quantity }) => writeln!(out, r#""ask":{price},"ask_qty":{quantity}}}"#),
        None => writeln!(out, r#""ask":null,"ask_qty":null}}"#),
    }
}

/// Writes a trade as one JSON line: `id` is the trade's, and `trade` holds `price` and `qty`.
///
/// ```
/// use corelane_examples::feed::{Decimal, Trade, write_trade};
///
/// let (symbol, price, quantity) = ("ES".parse()?, Decimal::parse("6050")?, Decimal::parse("2")?);
/// let mut out = Vec::new();
/// write_trade(&mut out, &Trade { symbol, id: 7, price, quantity })?;
/// let line = r#"{"symbol":"ES","id":7,"trade":{"price":6050,"qty":2}}"#;
/// assert_eq!(out, format!("{line}\n").as_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Those of `out`.
pub fn write_trade(out: &mut impl Write, trade: &Trade) -> io::Result<()> {
    let Trade {
        symbol,
        id,
        price,
        quantity,
    } = trade;
    write!(out, r#"{{"symbol":"{symbol}","id":{id},"#)?;
    writeln!(out, r#""trade":{{"price":{price},"qty":{quantity}}}}}"#)
}

/// What waits to be sent to one subscriber, in whole lines and up to a bound.
///
/// A subscriber that does not keep up fills it and is cut, so that it never slows a book down.
///
/// ```
/// use corelane_examples::feed::Outbox;
///
/// let mut outbox = Outbox::new(8);
/// outbox.push(b"12345\n")?;
/// assert!(outbox.push(b"678\n").is_err());
/// assert_eq!(outbox.take(Vec::new()), b"12345\n");
/// # Ok::<(), corelane_examples::feed::TooSlow>(())
/// ```
#[derive(Debug)]
pub struct Outbox {
    waiting: Vec<u8>,
    bytes_max: usize,
}

/// Default bound of an [`Outbox`], in bytes: more than a second of a busy feed.
pub const OUTBOX_BYTES_MAX: usize = 1 << 20;

impl Outbox {
    /// An empty one that holds at most `bytes_max` bytes; [`OUTBOX_BYTES_MAX`] is the default.
    pub fn new(bytes_max: usize) -> Self {
        Self {
            waiting: Vec::new(),
            bytes_max,
        }
    }

    /// Adds whole lines behind what waits.
    ///
    /// # Errors
    ///
    /// [`TooSlow`] when they do not fit; nothing of them is added.
    pub fn push(&mut self, lines: &[u8]) -> Result<(), TooSlow> {
        if self.waiting.len() + lines.len() > self.bytes_max {
            return Err(TooSlow {
                bytes_max: self.bytes_max,
            });
        }
        self.waiting.extend_from_slice(lines);
        Ok(())
    }

    /// Takes all that waits for sending, and goes on in `spent`, the emptied buffer of the last
    /// send.
    pub fn take(&mut self, mut spent: Vec<u8>) -> Vec<u8> {
        spent.clear();
        std::mem::replace(&mut self.waiting, spent)
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

impl Default for Outbox {
    fn default() -> Self {
        Self::new(OUTBOX_BYTES_MAX)
    }
}

/// A subscriber has not taken what was sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a subscriber is more than {bytes_max} bytes behind")]
pub struct TooSlow {
    /// The bound that was reached.
    pub bytes_max: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outbox_keeps_whole_lines_up_to_its_bound() {
        let mut outbox = Outbox::new(10);
        let mut sent = Vec::new();
        let mut refused = 0;
        for round in 0..5 {
            for line in [&b"abcd\n"[..], b"efgh\n", b"ij\n"] {
                refused += usize::from(outbox.push(line) == Err(TooSlow { bytes_max: 10 }));
            }
            let buffer = outbox.take(std::mem::take(&mut sent));
            assert_eq!(buffer, b"abcd\nefgh\n", "{round}");
            assert!(outbox.is_empty());
            sent = buffer;
        }
        assert_eq!(refused, 5);
    }
    use crate::feed::Decimal;

    #[test]
    fn every_line_is_json_with_the_promised_fields() {
        let symbol = "A/B:C".parse().unwrap();
        let level = Level {
            price: Decimal::parse("-37.63").unwrap(),
            quantity: Decimal::parse("92233720368.54775807").unwrap(),
        };
        let mut out = Vec::new();
        let tops = [
            Top {
                bid: Some(level),
                ask: Some(level),
            },
            Top {
                bid: None,
                ask: Some(level),
            },
            Top::default(),
        ];
        for top in &tops {
            write_top(&mut out, symbol, u64::MAX, top).unwrap();
        }
        let Level { price, quantity } = level;
        write_trade(
            &mut out,
            &Trade {
                symbol,
                id: 0,
                price,
                quantity,
            },
        )
        .unwrap();
        let lines: Vec<serde_json::Value> = String::from_utf8(out)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 4);
        for line in &lines[..3] {
            let object = line.as_object().unwrap();
            assert_eq!(object.len(), 6);
            assert_eq!(line["symbol"], "A/B:C");
            assert_eq!(line["id"], u64::MAX);
        }
        assert_eq!(lines[0]["bid"], -37.63);
        assert!(lines[1]["bid_qty"].is_null() && lines[2]["ask"].is_null());
        assert_eq!(lines[3]["trade"]["price"], -37.63);
    }
}
