//! Writes updates as the lines that a [`Decoder`](super::Decoder) reads.

use std::io::{self, Write};

use super::{Depth, Level, Ticker, Trade, Update};

/// Writes `update` as one line with its end, in the form that [`Decoder`](super::Decoder) reads.
///
/// ```
/// use corelane_examples::feed::{Decimal, Trade, Update, write_line};
///
/// let trade = Trade {
///     symbol: "ES".parse()?,
///     id: 7,
///     price: Decimal::parse("6050.25")?,
///     quantity: Decimal::parse("3")?,
/// };
/// let mut out = Vec::new();
/// write_line(&mut out, 1_000, &Update::Trade(trade))?;
/// let json = r#"{"stream":"ES@trade","data":{"e":"trade","s":"ES","t":7,"p":"6050.25","q":"3"}}"#;
/// assert_eq!(out, format!("1000 {json}\n").as_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Those of `out`.
pub fn write_line(out: &mut impl Write, received_ns: u64, update: &Update) -> io::Result<()> {
    write!(out, "{received_ns} ")?;
    match update {
        Update::Snapshot(snapshot) => {
            write!(
                out,
                r#"{{"symbol":"{}","lastUpdateId":{},"bids":"#,
                snapshot.symbol, snapshot.last_update_id
            )?;
            write_levels(out, &snapshot.bids)?;
            write!(out, r#","asks":"#)?;
            write_levels(out, &snapshot.asks)?;
            writeln!(out, "}}")
        }
        Update::Depth(depth) => {
            let Depth {
                symbol,
                first_id,
                last_id,
                bids,
                asks,
            } = depth;
            write!(
                out,
                r#"{{"stream":"{symbol}@depth@100ms","data":{{"e":"depthUpdate","s":"{symbol}","#
            )?;
            write!(out, r#""U":{first_id},"u":{last_id},"b":"#)?;
            write_levels(out, bids)?;
            write!(out, r#","a":"#)?;
            write_levels(out, asks)?;
            writeln!(out, "}}}}")
        }
        Update::Trade(trade) => {
            let Trade {
                symbol,
                id,
                price,
                quantity,
            } = trade;
            write!(
                out,
                r#"{{"stream":"{symbol}@trade","data":{{"e":"trade","s":"{symbol}","#
            )?;
            writeln!(out, r#""t":{id},"p":"{price}","q":"{quantity}"}}}}"#)
        }
        Update::Ticker(Ticker {
            symbol,
            id,
            bid,
            ask,
        }) => {
            write!(
                out,
                r#"{{"stream":"{symbol}@bookTicker","data":{{"u":{id},"s":"{symbol}","#
            )?;
            write!(out, r#""b":"{}","B":"{}","#, bid.price, bid.quantity)?;
            writeln!(out, r#""a":"{}","A":"{}"}}}}"#, ask.price, ask.quantity)
        }
    }
}

fn write_levels(out: &mut impl Write, levels: &[Level]) -> io::Result<()> {
    let mut before = "[";
    for level in levels {
        write!(out, r#"{before}["{}","{}"]"#, level.price, level.quantity)?;
        before = ",";
    }
    out.write_all(if levels.is_empty() { b"[]" } else { b"]" })
}
