//! The text of a gzip file, member by member, and what stands behind the last one.
//!
//! Owner: the thread that reads the file. A file may hold several members, which read as one text
//! (RFC 1952, 2.2), and zeros behind the last one, as tapes and block devices pad it; gzip itself
//! ignores them. Anything else there is a fault of its own: the text before it is whole.

use std::io::{self, BufRead, Chain, Cursor, Read};

use flate2::bufread::GzDecoder;

/// What a member begins with (RFC 1952, 2.3.1).
pub(super) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// A member, behind the bytes that were looked at for its beginning.
type Member<R> = GzDecoder<Chain<Cursor<Vec<u8>>, R>>;

/// Reads the text of all members.
#[derive(Debug)]
pub(super) struct Members<R> {
    /// `None` after the last one.
    member: Option<Member<R>>,
}

/// Bytes behind the last member are neither a member nor zeros.
#[derive(Debug, thiserror::Error)]
#[error("data after the end of the gzip stream")]
pub(super) struct TrailingData;

impl<R: BufRead> Members<R> {
    /// Reads `bytes`, which begin with a member.
    pub(super) fn new(bytes: R) -> Self {
        Self {
            member: Some(decoder(Vec::new(), bytes)),
        }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let read = member.read(buf)?;
            if read > 0 || buf.is_empty() {
                return Ok(read);
            }
            let ended = self
                .member
                .take()
                .map(|member| member.into_inner().into_inner());
            self.member = ended.map(|(_, bytes)| next(bytes)).transpose()?.flatten();
        }
        Ok(0)
    }
}

/// The member that begins where another one has ended, if there is one.
fn next<R: BufRead>(mut bytes: R) -> io::Result<Option<Member<R>>> {
    let start = first_bytes(&mut bytes)?;
    if start == MAGIC {
        return Ok(Some(decoder(start, bytes)));
    }
    if is_zero(&start) && is_zero_to_the_end(bytes)? {
        return Ok(None);
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, TrailingData))
}

fn decoder<R: BufRead>(start: Vec<u8>, bytes: R) -> Member<R> {
    GzDecoder::new(Cursor::new(start).chain(bytes))
}

/// As many bytes as [`MAGIC`] has, or fewer where they end.
pub(super) fn first_bytes(bytes: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::with_capacity(MAGIC.len());
    bytes.take(MAGIC.len() as u64).read_to_end(&mut start)?;
    Ok(start)
}

fn is_zero_to_the_end(mut bytes: impl BufRead) -> io::Result<bool> {
    loop {
        let some = bytes.fill_buf()?;
        if some.is_empty() || !is_zero(some) {
            return Ok(some.is_empty());
        }
        let used = some.len();
        bytes.consume(used);
    }
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}
