//! Cuts a stream of bytes into lines, whatever the pieces in which it comes.
//!
//! Owner: one input. Only the end of a chunk whose line goes on is copied; a line beyond the limit
//! is skipped up to its end and never held.

/// Default longest line, in bytes: a snapshot of 1,000 levels a side takes a sixteenth of it.
pub const LINE_BYTES_MAX: usize = 1 << 20;

/// A line of the input, or the fact that it was too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its number, from one.
    pub number: u64,
    /// Its bytes without the line end (`\n` or `\r\n`), or `None` when it was longer than the
    /// limit.
    pub bytes: Option<&'a [u8]>,
}

/// Finds the lines of one input.
///
/// ```
/// use corelane_examples::feed::LineFramer;
///
/// let mut framer = LineFramer::new(100);
/// assert_eq!(framer.split(b"a sin"), (5, None));
/// let (used, line) = framer.split(b"gle line\nmore");
/// assert_eq!(line.unwrap().bytes, Some(&b"a single line"[..]));
/// assert_eq!(used, 9);
/// ```
#[derive(Debug)]
pub struct LineFramer {
    line_bytes_max: usize,
    // The start of a line whose end has not come; after `spent` a whole line that was handed out.
    carried: Vec<u8>,
    spent: bool,
    skipping: bool,
    number: u64,
}

impl LineFramer {
    /// A framer for lines of at most `line_bytes_max` bytes, their end not counted.
    pub fn new(line_bytes_max: usize) -> Self {
        Self {
            line_bytes_max,
            carried: Vec::new(),
            spent: false,
            skipping: false,
            number: 0,
        }
    }

    /// Takes bytes up to the end of the first line, and says how many it took.
    ///
    /// Without a line end all of `chunk` is taken and there is no line yet. The caller goes on with
    /// the rest of the chunk, until that is empty.
    pub fn split<'a>(&'a mut self, chunk: &'a [u8]) -> (usize, Option<Line<'a>>) {
        if self.spent {
            self.spent = false;
            self.carried.clear();
        }
        match chunk.iter().position(|byte| *byte == b'\n') {
            Some(end) => (end + 1, Some(self.end_line(&chunk[..end]))),
            None => {
                self.carry(chunk);
                (chunk.len(), None)
            }
        }
    }

    /// Ends the input: gives the last line if no line end came behind it.
    pub fn finish(&mut self) -> Option<Line<'_>> {
        let open = self.skipping || !(self.spent || self.carried.is_empty());
        open.then(|| self.end_line(&[]))
    }

    fn end_line<'a>(&'a mut self, last: &'a [u8]) -> Line<'a> {
        self.number += 1;
        let number = self.number;
        if self.skipping || self.carried.len() + last.len() > self.line_bytes_max {
            self.skipping = false;
            self.carried.clear();
            return Line {
                number,
                bytes: None,
            };
        }
        let bytes = if self.carried.is_empty() {
            last
        } else {
            self.carried.extend_from_slice(last);
            self.spent = true;
            &self.carried
        };
        Line {
            number,
            bytes: Some(bytes.strip_suffix(b"\r").unwrap_or(bytes)),
        }
    }

    fn carry(&mut self, chunk: &[u8]) {
        if self.skipping {
            return;
        }
        if self.carried.len() + chunk.len() > self.line_bytes_max {
            self.skipping = true;
            self.carried = Vec::new();
        } else {
            self.carried.extend_from_slice(chunk);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(framer: &mut LineFramer, chunks: &[&[u8]]) -> Vec<(u64, Option<Vec<u8>>)> {
        let own = |line: Line<'_>| (line.number, line.bytes.map(<[u8]>::to_vec));
        let mut found = Vec::new();
        for mut chunk in chunks.iter().copied() {
            while !chunk.is_empty() {
                let (used, line) = framer.split(chunk);
                found.extend(line.map(own));
                chunk = &chunk[used..];
            }
        }
        found.extend(framer.finish().map(own));
        found
    }

    #[test]
    fn both_line_ends_and_a_missing_one_end_a_line() {
        let found = lines(
            &mut LineFramer::new(10),
            &[b"a\nb\r", b"\n\n", b"c\r", b"d"],
        );
        let expected: [(u64, &[u8]); 4] = [(1, b"a"), (2, b"b"), (3, b""), (4, b"c\rd")];
        assert_eq!(
            found,
            expected.map(|(number, bytes)| (number, Some(bytes.to_vec())))
        );
    }

    #[test]
    fn the_limit_itself_fits_and_one_more_byte_does_not() {
        for chunks in [
            &[&b"12345\n123456\nab\n"[..]][..],
            &[b"123", b"45\n12345", b"6\na", b"b\n"],
        ] {
            let found = lines(&mut LineFramer::new(5), chunks);
            let expected = [
                (1, Some(b"12345".to_vec())),
                (2, None),
                (3, Some(b"ab".to_vec())),
            ];
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_not_held() {
        let mut framer = LineFramer::new(1000);
        let piece = [b'x'; 800];
        for _ in 0..1000 {
            assert_eq!(framer.split(&piece), (800, None));
            assert!(
                framer.carried.capacity() <= 1000,
                "{}",
                framer.carried.capacity()
            );
        }
        assert_eq!(
            framer.finish(),
            Some(Line {
                number: 1,
                bytes: None
            })
        );
        assert_eq!(framer.finish(), None);
    }

    #[test]
    fn an_empty_input_has_no_line() {
        assert_eq!(lines(&mut LineFramer::new(5), &[]), []);
        assert_eq!(lines(&mut LineFramer::new(5), &[b"", b""]), []);
    }
}
