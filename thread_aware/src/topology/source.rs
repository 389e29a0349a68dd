//! Where a topology is read from.

use std::{path::PathBuf, vec::Vec};

use super::{error::TopologyError, files::Text, ids::ProcessorId};

/// Where the files and the affinity mask of a topology come from.
///
/// ```no_run
/// use thread_aware::topology::{ProcessorId, Source, Topology};
///
/// // A tree that was recorded on another machine: `recorded/sys/devices/system/cpu/…`
/// let mask = [0, 2, 5].map(ProcessorId::new);
/// let topology = Topology::read(&Source::recorded("recorded", mask))?;
/// assert_eq!(topology.allowed(), mask);
/// # Ok::<(), thread_aware::topology::TopologyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Source {
    root: PathBuf,
    mask: Option<Vec<ProcessorId>>,
    #[cfg(feature = "hwloc")]
    by_hwloc: bool,
}

impl Source {
    /// This machine, and the affinity mask that the process started with, as far as this crate
    /// can know: [`registry::original_mask`](crate::registry::original_mask).
    #[must_use]
    pub fn system() -> Self {
        Self {
            root: PathBuf::from("/"),
            mask: None,
            #[cfg(feature = "hwloc")]
            by_hwloc: false,
        }
    }

    /// A tree with `root` in the place of `/`, and a process that has the affinity mask `mask`.
    ///
    /// Looked at are `sys/devices/system/cpu`, `sys/devices/system/node`, `sys/fs/cgroup` and
    /// `proc/self/cgroup` below `root`.
    #[must_use]
    pub fn recorded(root: impl Into<PathBuf>, mask: impl IntoIterator<Item = ProcessorId>) -> Self {
        let mut mask: Vec<_> = mask.into_iter().collect();
        mask.sort_unstable();
        mask.dedup();
        Self {
            root: root.into(),
            mask: Some(mask),
            #[cfg(feature = "hwloc")]
            by_hwloc: false,
        }
    }

    /// The same, with the processors, caches and nodes described by libhwloc instead of read from
    /// the kernel's files (feature `hwloc`).
    ///
    /// The answers are the same on every machine that the kernel describes well; libhwloc also
    /// knows the faults of some kernels and firmwares. The affinity mask, the cpuset and the quota
    /// are still read by this crate. libhwloc takes its files from below the root that the
    /// environment variable `HWLOC_FSROOT` names, or from this machine.
    ///
    /// ```
    /// use thread_aware::topology::{Source, Topology};
    ///
    /// let topology = Topology::read(&Source::system().by_hwloc())?;
    /// assert_eq!(topology.allowed(), Topology::detect()?.allowed());
    /// # Ok::<(), thread_aware::topology::TopologyError>(())
    /// ```
    #[cfg(feature = "hwloc")]
    #[must_use]
    pub fn by_hwloc(mut self) -> Self {
        self.by_hwloc = true;
        self
    }

    #[cfg(feature = "hwloc")]
    pub(super) fn is_hwloc(&self) -> bool {
        self.by_hwloc
    }

    /// The processors of the mask, ascending.
    pub(super) fn mask(&self) -> Result<Vec<ProcessorId>, TopologyError> {
        match &self.mask {
            Some(mask) => Ok(mask.clone()),
            None => crate::registry::original_mask().map_err(|_| TopologyError::MaskUnknown),
        }
    }

    /// Reads the file at `path`, which is relative to the root.
    pub(super) fn read(&self, path: &str) -> Result<Option<Text>, TopologyError> {
        Text::read(self.path(path))
    }

    /// Where the file or directory `path` is, which is relative to the root.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }
}
