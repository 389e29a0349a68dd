//! Why a topology could not be told.

use core::{error::Error, fmt};
use std::{io, path::PathBuf};

use super::ids::ProcessorId;
use crate::affinity::Affinity;

/// Why a topology could not be read or asked. Whatever is wrong with a file names the file.
#[derive(Debug)]
#[non_exhaustive]
pub enum TopologyError {
    /// A file is there but cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file does not hold what the kernel writes there.
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with its content.
        fault: Fault,
    },
    /// A file says of a processor what another file contradicts, such as siblings that do not
    /// know each other.
    Contradiction {
        /// The file that was read last.
        path: PathBuf,
        /// The processor on which they disagree.
        processor: ProcessorId,
    },
    /// The kernel did not tell the affinity mask of this thread.
    MaskUnknown,
    /// No processor is online, in the affinity mask and in the cpuset at once.
    NoProcessor,
    /// The caller named a processor that this process may not use.
    NotAllowed(ProcessorId),
    /// The caller named more processors than a topology can have, [`Affinity::COUNT_MAX`].
    TooMany(usize),
    /// libhwloc could not discover the machine.
    #[cfg(feature = "hwloc")]
    Hwloc(std::boxed::Box<dyn Error + Send + Sync>),
}

/// What is wrong with the content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// It is empty where something must stand.
    Empty,
    /// It is not UTF-8.
    NotText,
    /// It is longer than any such file is.
    TooLong,
    /// Something else stands where a number must.
    NotANumber,
    /// A number is too large, or a period is zero.
    OutOfRange,
    /// A list does not ascend.
    OutOfOrder,
    /// A line does not have the fields that it must have.
    NotALine,
}

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { path, .. } => write!(f, "{} cannot be read", path.display()),
            Self::Malformed { path, fault } => write!(f, "{}: {fault}", path.display()),
            Self::Contradiction { path, processor } => {
                write!(
                    f,
                    "{} contradicts another file about {processor}",
                    path.display()
                )
            }
            Self::MaskUnknown => f.write_str("the kernel did not tell the affinity mask"),
            Self::NoProcessor => {
                f.write_str("no processor is online, in the affinity mask and in the cpuset")
            }
            Self::NotAllowed(processor) => write!(f, "{processor} is not allowed"),
            Self::TooMany(count) => {
                write!(
                    f,
                    "{count} processors are more than {}",
                    Affinity::COUNT_MAX
                )
            }
            #[cfg(feature = "hwloc")]
            Self::Hwloc(_) => f.write_str("libhwloc could not discover the machine"),
        }
    }
}

impl Error for TopologyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unreadable { source, .. } => Some(source),
            #[cfg(feature = "hwloc")]
            Self::Hwloc(source) => Some(&**source),
            _ => None,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "it is empty",
            Self::NotText => "it is not text",
            Self::TooLong => "it is too long",
            Self::NotANumber => "a number is missing",
            Self::OutOfRange => "a number is out of range",
            Self::OutOfOrder => "a list does not ascend",
            Self::NotALine => "a line lacks a field",
        })
    }
}
