//! The hash that a book is to have at the end.

use std::str::FromStr;

use super::{BookReport, Symbol, SymbolError};

/// The hash that a book is to have at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedHash {
    /// Whose book.
    pub symbol: Symbol,
    /// The hash in lower-case hexadecimal digits, as [`Book::sha256`](super::Book::sha256) gives
    /// it.
    pub sha256: String,
}

impl ExpectedHash {
    /// Looks for the book among those of a report, and compares.
    ///
    /// # Errors
    ///
    /// [`HashMismatch`] shows both hashes, or says that there is no such book.
    pub fn check(&self, books: &[BookReport]) -> Result<(), HashMismatch> {
        let (symbol, expected) = (self.symbol, self.sha256.clone());
        match books.iter().find(|book| book.symbol == symbol) {
            None => Err(HashMismatch::NoBook { symbol, expected }),
            Some(book) if book.sha256 == expected => Ok(()),
            Some(book) => Err(HashMismatch::Other {
                symbol,
                expected,
                found: book.sha256.clone(),
            }),
        }
    }
}

/// A book is not the expected one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HashMismatch {
    /// The book has another hash.
    #[error("{symbol}: expected sha256 {expected}, found {found}")]
    Other {
        /// Whose book.
        symbol: Symbol,
        /// The hash that was asked for.
        expected: String,
        /// The hash of the book.
        found: String,
    },
    /// No update of the symbol has come.
    #[error("{symbol}: expected sha256 {expected}, found no book")]
    NoBook {
        /// Whose book.
        symbol: Symbol,
        /// The hash that was asked for.
        expected: String,
    },
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::{Books, Generator, KEPT_UPDATES_MAX};

    const HASH: &str = "C16F563D045838D7C4FB8F299EEF71B29FADD299D1CC008065F55DB839AA4885";

    #[test]
    fn a_mismatch_shows_both_hashes() {
        let mut books = Books::new(KEPT_UPDATES_MAX);
        for update in Generator::new(1).take(100) {
            books.apply(update).unwrap();
        }
        let reports: Vec<_> = books.iter().map(BookReport::from).collect();
        let found = books.book("ES".parse().unwrap()).unwrap().sha256();
        let expect = |text: String| text.parse::<ExpectedHash>().unwrap().check(&reports);
        assert_eq!(expect(format!("ES={found}")), Ok(()));
        let mismatch = expect(format!("ES={HASH}")).unwrap_err().to_string();
        assert!(
            mismatch.contains(&found) && mismatch.contains(&HASH.to_lowercase()),
            "{mismatch}"
        );
        let missing = expect(format!("XX={HASH}")).unwrap_err().to_string();
        assert!(
            missing.contains("XX") && missing.contains("no book"),
            "{missing}"
        );
    }
}
