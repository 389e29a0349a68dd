//! Reads the kernel's small text files, with a bound on all that is taken from them.

use core::str::FromStr;
use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    string::String,
    vec::Vec,
};

use super::{
    error::{Fault, TopologyError},
    ids::ProcessorId,
};
use crate::affinity::Affinity;

/// The most bytes that a file may have. The longest real one is a processor list with holes.
const FILE_BYTES_MAX: usize = 256 * 1024;

/// The highest number that is taken for a processor or a node.
const NUMBER_MAX: u32 = Affinity::COUNT_MAX as u32;

/// What one file holds, without the blanks around it.
pub(super) struct Text {
    path: PathBuf,
    content: String,
}

impl Text {
    /// Reads a file, or finds that there is none.
    pub(super) fn read(path: PathBuf) -> Result<Option<Self>, TopologyError> {
        let mut bytes = Vec::new();
        let limit = FILE_BYTES_MAX as u64 + 1;
        match File::open(&path).and_then(|file| file.take(limit).read_to_end(&mut bytes)) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(TopologyError::Unreadable { path, source }),
        }
        if bytes.len() > FILE_BYTES_MAX {
            return Err(TopologyError::Malformed {
                path,
                fault: Fault::TooLong,
            });
        }
        match core::str::from_utf8(&bytes) {
            Ok(content) => Ok(Some(Self {
                path,
                content: content.trim().into(),
            })),
            Err(_) => Err(TopologyError::Malformed {
                path,
                fault: Fault::NotText,
            }),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        self.content.lines()
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.content.split_ascii_whitespace()
    }

    pub(super) fn malformed(&self, fault: Fault) -> TopologyError {
        TopologyError::Malformed {
            path: self.path.clone(),
            fault,
        }
    }

    /// The one number that the file holds.
    pub(super) fn number<T: FromStr>(&self) -> Result<T, TopologyError> {
        self.parse(&self.content)
    }

    /// A number somewhere in the file.
    pub(super) fn parse<T: FromStr>(&self, word: &str) -> Result<T, TopologyError> {
        if word.is_empty() {
            return Err(self.malformed(Fault::Empty));
        }
        word.parse().map_err(|_| self.malformed(Fault::NotANumber))
    }

    /// The processors of a list that names at least one.
    pub(super) fn processors(&self) -> Result<Vec<ProcessorId>, TopologyError> {
        if self.content.is_empty() {
            return Err(self.malformed(Fault::Empty));
        }
        self.processors_if_any()
    }

    /// The processors of a list that may be empty, as that of a node without processors is.
    pub(super) fn processors_if_any(&self) -> Result<Vec<ProcessorId>, TopologyError> {
        Ok(self.numbers()?.into_iter().map(ProcessorId::new).collect())
    }

    /// The numbers of a list such as `0-3,8,10-11`, which must ascend.
    ///
    /// Since it ascends and its numbers are bounded, so is its length.
    pub(super) fn numbers(&self) -> Result<Vec<u32>, TopologyError> {
        let mut numbers = Vec::new();
        let mut next = 0;
        for part in self.content.split(',').filter(|_| !self.content.is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (self.parse::<u32>(first)?, self.parse::<u32>(last)?);
            if first < next || last < first {
                return Err(self.malformed(Fault::OutOfOrder));
            }
            if last > NUMBER_MAX {
                return Err(self.malformed(Fault::OutOfRange));
            }
            numbers.extend(first..=last);
            next = last + 1;
        }
        Ok(numbers)
    }
}
