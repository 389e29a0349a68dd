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

#[cfg(test)]
mod tests {
    use super::*;
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
