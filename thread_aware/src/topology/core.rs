//! The parts that a topology consists of.

use std::vec::Vec;

use super::ids::{CoreId, L3Id, NodeId, ProcessorId, SocketId};

/// A physical core with at least one processor that is allowed.
#[derive(Clone, Debug)]
pub struct Core {
    pub(super) id: CoreId,
    pub(super) processors: Vec<Processor>,
    pub(super) node: NodeId,
    pub(super) socket: SocketId,
    pub(super) l3: Option<L3Id>,
}

impl Core {
    /// The place of the core in [`Topology::physical_cores`](super::Topology::physical_cores).
    #[must_use]
    pub fn id(&self) -> CoreId {
        self.id
    }

    /// The online processors of the core, the allowed ones first, each kind ascending.
    #[must_use]
    pub fn processors(&self) -> &[Processor] {
        &self.processors
    }

    /// The first allowed processor of the core: the one that a shard is pinned to.
    #[must_use]
    pub fn processor(&self) -> ProcessorId {
        self.processors[0].id
    }

    /// The memory node of the core.
    #[must_use]
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// The socket of the core.
    #[must_use]
    pub fn socket(&self) -> SocketId {
        self.socket
    }

    /// The third-level cache of the core, if the kernel tells of one.
    #[must_use]
    pub fn l3(&self) -> Option<L3Id> {
        self.l3
    }

    /// Its allowed processors, ascending.
    pub(super) fn allowed(&self) -> impl Iterator<Item = ProcessorId> {
        self.processors
            .iter()
            .filter(|processor| processor.allowed)
            .map(|processor| processor.id)
    }
}

/// A logical processor of a [`Core`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processor {
    pub(super) id: ProcessorId,
    pub(super) allowed: bool,
}

impl Processor {
    /// The kernel's number of the processor.
    #[must_use]
    pub fn id(&self) -> ProcessorId {
        self.id
    }

    /// Whether this process may use the processor.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.allowed
    }
}

/// How far apart two processors are: the smallest thing that they share.
///
/// A nearer class is less than a farther one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Distance {
    /// They are siblings on one physical core, or the same processor.
    SameCore,
    /// They share a third-level cache.
    SameL3,
    /// They share a memory node.
    SameNode,
    /// They share a socket.
    SameSocket,
    /// They share nothing but the machine.
    Remote,
}

impl Distance {
    /// How far apart the processors of two cores are.
    pub(super) fn between(a: &Core, b: &Core) -> Self {
        if a.id == b.id {
            Self::SameCore
        } else if a.l3.is_some() && a.l3 == b.l3 {
            Self::SameL3
        } else if a.node == b.node {
            Self::SameNode
        } else if a.socket == b.socket {
            Self::SameSocket
        } else {
            Self::Remote
        }
    }
}

/// What a topology was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Origin {
    /// The kernel's description of its processors.
    Sysfs,
    /// libhwloc's description (feature `hwloc`).
    Hwloc,
    /// The affinity mask alone, because there is no such description, as in some sandboxes: each
    /// allowed processor counts as a core of its own, all on one node and socket, with no shared
    /// cache. Siblings are then taken for cores, so two shards may end up on one of them.
    Mask,
}
