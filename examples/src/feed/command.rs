//! The lines that the control of a running service takes.

use std::str::FromStr;

use super::{NamedLimit, NamedLimitError};

/// Longest line of the control, in bytes.
pub const COMMAND_BYTES_MAX: usize = 256;

/// What the control of a running service can be told.
///
/// ```
/// use corelane_examples::feed::Command;
///
/// assert_eq!("snapshot".parse(), Ok(Command::Snapshot));
/// assert!(matches!("limit ES 50 1000".parse()?, Command::Limit(_)));
/// # Ok::<(), corelane_examples::feed::CommandError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// `limit SYMBOL ORDER POSITION`: sets a risk limit.
    Limit(NamedLimit),
    /// `snapshot`: gives the best prices of all symbols.
    Snapshot,
    /// `record start`, `record stop`: whether trades are written to the file of `--record`.
    Record(Recording),
    /// `stop`: ends the run.
    Stop,
}

/// Whether trades are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording {
    /// From now on.
    On,
    /// No more.
    Off,
}

impl FromStr for Command {
    type Err = CommandError;

    fn from_str(line: &str) -> Result<Self, CommandError> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words[..] {
            ["limit", symbol, order, position] => NamedLimit::of_parts(symbol, order, position)
                .map(Self::Limit)
                .map_err(CommandError::Limit),
            ["snapshot"] => Ok(Self::Snapshot),
            ["record", "start"] => Ok(Self::Record(Recording::On)),
            ["record", "stop"] => Ok(Self::Record(Recording::Off)),
            ["stop"] => Ok(Self::Stop),
            _ => Err(CommandError::Unknown),
        }
    }
}

/// Why a line is no [`Command`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// It is none of the four.
    #[error("known are: limit SYMBOL ORDER POSITION, snapshot, record start|stop, stop")]
    Unknown,
    /// The limit is none.
    #[error("{0}")]
    Limit(#[source] NamedLimitError),
    /// The line is longer than [`COMMAND_BYTES_MAX`], or no text.
    #[error("a line is text of at most 256 bytes")]
    Line,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_of_four_commands() {
        let limit = "ES=2:7".parse().unwrap();
        for (line, command) in [
            ("limit ES 2 7", Command::Limit(limit)),
            (" snapshot\r", Command::Snapshot),
            ("record  start", Command::Record(Recording::On)),
            ("record stop", Command::Record(Recording::Off)),
            ("stop", Command::Stop),
        ] {
            assert_eq!(line.parse(), Ok(command), "{line}");
        }
        for line in ["", "limit", "limit ES 1", "stop now", "Stop", "record"] {
            let parsed = line.parse::<Command>();
            assert_eq!(parsed, Err(CommandError::Unknown), "{line}");
        }
        let parsed = "limit ES 1 x".parse::<Command>();
        assert!(matches!(
            parsed,
            Err(CommandError::Limit(NamedLimitError::Position(_)))
        ));
    }
}
