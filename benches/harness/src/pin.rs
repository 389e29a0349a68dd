//! Which cores a round uses, and pinning a thread to one.

use crate::BenchError;

/// The two cores of a row: servers and consumers on the first, clients and producers on the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cores {
    /// Where the measured side runs.
    pub first: usize,
    /// Where the other side runs.
    pub second: usize,
}

impl Cores {
    /// Reads the first two cores of the affinity mask.
    ///
    /// # Errors
    ///
    /// [`BenchError::Cores`] when the process may use fewer than two.
    pub fn allowed() -> Result<Self, BenchError> {
        match allowed_cores().as_slice() {
            [first, second, ..] => Ok(Self {
                first: *first,
                second: *second,
            }),
            _ => Err(BenchError::Cores(2)),
        }
    }

    /// The same, and where there is only one, that one for both sides.
    ///
    /// # Errors
    ///
    /// [`BenchError::Cores`] when the process may use none.
    pub fn allowed_or_one() -> Result<Self, BenchError> {
        match allowed_cores().as_slice() {
            [] => Err(BenchError::Cores(1)),
            [first, rest @ ..] => Ok(Self {
                first: *first,
                second: *rest.first().unwrap_or(first),
            }),
        }
    }

    /// The two as a list.
    pub fn both(self) -> [usize; 2] {
        [self.first, self.second]
    }
}

/// Every core of the affinity mask.
pub fn allowed_cores() -> Vec<usize> {
    let ids = core_affinity::get_core_ids().unwrap_or_default();
    ids.into_iter().map(|core| core.id).collect()
}

/// Pins the calling thread to `core`.
///
/// # Errors
///
/// [`BenchError::Pin`] when the system refuses.
pub fn pin(core: usize) -> Result<(), BenchError> {
    if core_affinity::set_for_current(core_affinity::CoreId { id: core }) {
        return Ok(());
    }
    Err(BenchError::Pin(core))
}
