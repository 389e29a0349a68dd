//! Names of what is traded.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// Longest name of a symbol, in bytes.
pub const SYMBOL_BYTES_MAX: usize = 15;

/// The name of something traded, such as `ES` or `BTCUSDT`.
///
/// It is 16 bytes that are copied as they are, so that an update crosses cores without a table that
/// all cores would have to agree on.
///
/// ```
/// use corelane_examples::feed::Symbol;
///
/// let symbol: Symbol = "BTCUSDT".parse()?;
/// assert_eq!(symbol.as_str(), "BTCUSDT");
/// assert!("two words".parse::<Symbol>().is_err());
/// # Ok::<(), corelane_examples::feed::SymbolError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol {
    // Zeros fill the rest, so that derived order and equality are those of the names.
    name: [u8; SYMBOL_BYTES_MAX],
    len: u8,
}

impl Symbol {
    /// A name of a table, whose alphabet a test checks.
    pub(super) const fn constant(name: &'static str) -> Self {
        let bytes = name.as_bytes();
        assert!(
            !bytes.is_empty() && bytes.len() <= SYMBOL_BYTES_MAX,
            "a name of a table is short"
        );
        let mut symbol = Self {
            name: [0; SYMBOL_BYTES_MAX],
            len: bytes.len() as u8,
        };
        let mut at = 0;
        while at < bytes.len() {
            symbol.name[at] = bytes[at];
            at += 1;
        }
        symbol
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        let name = &self.name[..usize::from(self.len)];
        std::str::from_utf8(name).expect("only ASCII bytes are let in")
    }

    /// A number that spreads names evenly and is the same in every process (FNV-1a).
    pub fn spread(&self) -> u64 {
        self.name[..usize::from(self.len)]
            .iter()
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
                (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
            })
    }
}

impl FromStr for Symbol {
    type Err = SymbolError;

    fn from_str(text: &str) -> Result<Self, SymbolError> {
        if text.is_empty() {
            return Err(SymbolError::Empty);
        }
        if text.len() > SYMBOL_BYTES_MAX {
            return Err(SymbolError::TooLong);
        }
        // The name is written into JSON and tables as it is, so nothing gets in that would need
        // escapes.
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/:".contains(&byte);
        if !text.bytes().all(allowed) {
            return Err(SymbolError::Garbage);
        }
        let mut name = [0; SYMBOL_BYTES_MAX];
        name[..text.len()].copy_from_slice(text.as_bytes());
        Ok(Self {
            name,
            len: text.len() as u8,
        })
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Symbol {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Why a text names no [`Symbol`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SymbolError {
    /// There is no name.
    #[error("a symbol has no name")]
    Empty,
    /// The name is longer than [`SYMBOL_BYTES_MAX`].
    #[error("a symbol is longer than 15 bytes")]
    TooLong,
    /// The name holds something other than ASCII letters, digits and `._-/:`.
    #[error("a symbol holds more than letters, digits and ._-/:")]
    Garbage,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_and_alphabet_are_kept() {
        assert_eq!("".parse::<Symbol>(), Err(SymbolError::Empty));
        assert_eq!(
            "ABCDEFGHIJKLMNOP".parse::<Symbol>(),
            Err(SymbolError::TooLong)
        );
        assert_eq!("A\"B".parse::<Symbol>(), Err(SymbolError::Garbage));
        assert_eq!("É".parse::<Symbol>(), Err(SymbolError::Garbage));
        assert_eq!(
            "ABCDEFGHIJKLMNO".parse::<Symbol>().unwrap().as_str(),
            "ABCDEFGHIJKLMNO"
        );
    }

    #[test]
    fn order_is_that_of_the_names() {
        let mut names = ["NQ", "ES", "ESZ6", "BTCUSDT", "E"].map(|name| name.parse().unwrap());
        names.sort_unstable();
        let names: Vec<_> = names.iter().map(Symbol::as_str).collect();
        assert_eq!(names, ["BTCUSDT", "E", "ES", "ESZ6", "NQ"]);
    }
}
