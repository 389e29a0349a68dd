//! Who describes the processors: the kernel's files, or libhwloc.

use std::{collections::BTreeMap, path::PathBuf, vec::Vec};

use super::{
    core::Origin,
    error::TopologyError,
    ids::{L3Id, NodeId, ProcessorId, SocketId},
    source::Source,
    sysfs,
};

/// Where one processor sits.
pub(super) struct Site {
    /// The online processors of its core, itself included, ascending.
    pub(super) siblings: Vec<ProcessorId>,
    pub(super) socket: SocketId,
    pub(super) l3: Option<L3Id>,
    /// The file that names the siblings.
    pub(super) path: PathBuf,
    /// Whether somebody said so, or it is taken for a core of its own for want of that.
    pub(super) told: bool,
}

/// A description of the processors, their caches and their nodes.
pub(super) enum Description<'a> {
    Sysfs(&'a Source),
    #[cfg(feature = "hwloc")]
    Hwloc(super::hwloc::Machine),
}

impl<'a> Description<'a> {
    pub(super) fn of(source: &'a Source) -> Result<Self, TopologyError> {
        #[cfg(feature = "hwloc")]
        if source.is_hwloc() {
            return super::hwloc::Machine::load().map(Self::Hwloc);
        }
        Ok(Self::Sysfs(source))
    }

    /// What a topology says of where it comes from.
    pub(super) fn origin(&self) -> Origin {
        match self {
            Self::Sysfs(_) => Origin::Sysfs,
            #[cfg(feature = "hwloc")]
            Self::Hwloc(_) => Origin::Hwloc,
        }
    }

    /// The processors that are online, ascending, or `None` where nobody says it.
    pub(super) fn online(&self) -> Result<Option<Vec<ProcessorId>>, TopologyError> {
        match self {
            Self::Sysfs(source) => sysfs::online(source),
            #[cfg(feature = "hwloc")]
            Self::Hwloc(machine) => Ok(Some(machine.online())),
        }
    }

    /// Where `processor` sits; `online` ascends.
    pub(super) fn site(
        &self,
        processor: ProcessorId,
        online: &[ProcessorId],
    ) -> Result<Site, TopologyError> {
        match self {
            Self::Sysfs(source) => sysfs::site(source, processor, online),
            #[cfg(feature = "hwloc")]
            Self::Hwloc(machine) => Ok(machine.site(processor)),
        }
    }

    /// The node of every processor that a node lists; a processor in none counts to node 0.
    pub(super) fn nodes(&self) -> Result<BTreeMap<ProcessorId, NodeId>, TopologyError> {
        match self {
            Self::Sysfs(source) => sysfs::nodes(source),
            #[cfg(feature = "hwloc")]
            Self::Hwloc(machine) => Ok(machine.nodes()),
        }
    }
}
