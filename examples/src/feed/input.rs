//! Reads a recorded feed from a file, for the thread that does so.
//!
//! Owner: one reader thread an input, since a file that is not in memory blocks its reader. The
//! chunks go to whatever the caller plugs in; a bounded queue there is what slows this reader down.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::gzip::{MAGIC, Members, TrailingData, first_bytes};

/// Default size of the chunks that a reader hands over, in bytes.
pub const CHUNK_BYTES: usize = 64 << 10;

/// How a file was read to its end, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputEnd {
    /// All of it was handed over.
    Complete,
    /// Whoever takes the chunks wanted no more.
    Stopped,
}

/// Reads `path`, plain or gzip (told apart by its first two bytes), and gives `take` its text in
/// chunks. A gzip file may hold several members, and zeros behind the last one.
///
/// Chunks are not empty and hold at most `chunk_bytes` bytes. `take` may block; when it breaks,
/// reading stops. What was given before an error stays given, so a broken file is used up to where
/// it breaks.
///
/// ```
/// use corelane_examples::feed::{InputEnd, read_input};
/// use std::ops::ControlFlow;
///
/// let mut bytes = 0;
/// let end = read_input("Cargo.toml".as_ref(), 1024, |chunk| {
///     bytes += chunk.len();
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!(end, InputEnd::Complete);
/// assert_eq!(bytes as u64, std::fs::metadata("Cargo.toml").unwrap().len());
/// # Ok::<(), corelane_examples::feed::InputError>(())
/// ```
///
/// # Errors
///
/// [`InputError`] names the file and says what is wrong with it.
///
/// # Panics
///
/// When `chunk_bytes` is zero.
pub fn read_input(
    path: &Path,
    chunk_bytes: usize,
    take: impl FnMut(Vec<u8>) -> ControlFlow<()>,
) -> Result<InputEnd, InputError> {
    assert!(chunk_bytes > 0, "a chunk holds at least a byte");
    let unreadable = |source| InputError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(unreadable)?;
    let (is_gzip, text) = peek(file).map_err(unreadable)?;
    if !is_gzip {
        return hand_over(text, chunk_bytes, take).map_err(unreadable);
    }
    let text = Members::new(BufReader::with_capacity(CHUNK_BYTES, text));
    hand_over(text, chunk_bytes, take).map_err(|source| {
        let path = path.to_owned();
        if source
            .get_ref()
            .is_some_and(|error| error.is::<TrailingData>())
        {
            return InputError::TrailingData { path };
        }
        match source.kind() {
            io::ErrorKind::UnexpectedEof => InputError::Truncated { path },
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                InputError::Corrupt { path, source }
            }
            _ => InputError::Unreadable { path, source },
        }
    })
}

/// Looks at the first bytes and puts them back.
fn peek(mut file: File) -> io::Result<(bool, impl Read)> {
    let start = first_bytes(&mut file)?;
    Ok((start == MAGIC, Cursor::new(start).chain(file)))
}

fn hand_over(
    mut text: impl Read,
    chunk_bytes: usize,
    mut take: impl FnMut(Vec<u8>) -> ControlFlow<()>,
) -> io::Result<InputEnd> {
    loop {
        let mut chunk = vec![0; chunk_bytes];
        let (used, outcome) = fill(&mut text, &mut chunk);
        chunk.truncate(used);
        if used > 0 && take(chunk).is_break() {
            return Ok(InputEnd::Stopped);
        }
        if outcome? == Filled::End {
            return Ok(InputEnd::Complete);
        }
    }
}

#[derive(PartialEq, Eq)]
enum Filled {
    Full,
    End,
}

/// Fills `chunk` as far as it goes. What was read before an error counts too.
fn fill(text: &mut impl Read, chunk: &mut [u8]) -> (usize, io::Result<Filled>) {
    let mut used = 0;
    while used < chunk.len() {
        match text.read(&mut chunk[used..]) {
            Ok(0) => return (used, Ok(Filled::End)),
            Ok(read) => used += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (used, Err(error)),
        }
    }
    (used, Ok(Filled::Full))
}

/// Why a file could not be read to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The system does not give the file or its bytes.
    #[error("{}: cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The file ends inside its gzip stream.
    #[error("{}: the gzip stream is truncated", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
    },
    /// Behind the gzip stream, whose text was handed over, stands something else than zeros.
    #[error("{}: data after the end of the gzip stream", path.display())]
    TrailingData {
        /// The file.
        path: PathBuf,
    },
    /// The gzip stream is broken.
    #[error("{}: the gzip stream is broken: {source}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is broken.
        #[source]
        source: io::Error,
    },
}
