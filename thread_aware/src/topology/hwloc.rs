//! What libhwloc says about processors, caches and nodes (hwloc's manual, "Terms and Definitions").

use std::{boxed::Box, collections::BTreeMap, path::PathBuf, vec, vec::Vec};

use hwlocality::{
    Topology,
    object::{TopologyObject, types::ObjectType},
    topology::builder::{BuildFlags, TopologyBuilder},
};

use super::{
    description::Site,
    error::TopologyError,
    ids::{L3Id, NodeId, ProcessorId, SocketId},
};

/// The machine as libhwloc has discovered it, with what is not allowed.
pub(super) struct Machine(Topology);

impl Machine {
    pub(super) fn load() -> Result<Self, TopologyError> {
        let loaded = || -> Result<Topology, Box<dyn core::error::Error + Send + Sync>> {
            // Without its component for x86, which asks the processors themselves where the
            // kernel is silent, so that both sources know the same.
            let builder = TopologyBuilder::new()
                .with_flags(BuildFlags::INCLUDE_DISALLOWED)?
                .without_component("x86")?;
            Ok(builder.build()?)
        };
        loaded().map(Self).map_err(TopologyError::Hwloc)
    }

    /// The processors that are online, ascending.
    pub(super) fn online(&self) -> Vec<ProcessorId> {
        let mut online: Vec<_> = self.processors().map(|(id, _)| id).collect();
        online.sort_unstable();
        online
    }

    /// Where `processor` sits.
    pub(super) fn site(&self, processor: ProcessorId) -> Site {
        let unit = self.processors().find(|(id, _)| *id == processor);
        let above = |kind| unit.and_then(|(_, unit)| ancestor(unit, kind));
        let core = above(ObjectType::Core);
        let number = |object: &TopologyObject| u32::try_from(object.os_index()?).ok();
        Site {
            siblings: core.map_or_else(|| vec![processor], below),
            socket: SocketId::new(above(ObjectType::Package).and_then(number).unwrap_or(0)),
            l3: above(ObjectType::L3Cache)
                .and_then(|cache| below(cache).first().copied())
                .map(|first| L3Id::new(first.number())),
            path: PathBuf::from("libhwloc"),
            told: core.is_some(),
        }
    }

    /// The node of every processor that is in one.
    pub(super) fn nodes(&self) -> BTreeMap<ProcessorId, NodeId> {
        let node = |unit: &TopologyObject| {
            let first = unit.nodeset()?.first_set()?;
            u32::try_from(usize::from(first)).ok().map(NodeId::new)
        };
        self.processors()
            .filter_map(|(id, unit)| Some((id, node(unit)?)))
            .collect()
    }

    /// The processing units with the kernel's number of each.
    fn processors(&self) -> impl Iterator<Item = (ProcessorId, &TopologyObject)> {
        self.0
            .objects_with_type(ObjectType::PU)
            .filter_map(|unit| Some((id(unit.os_index()?)?, unit)))
    }
}

fn ancestor(unit: &TopologyObject, kind: ObjectType) -> Option<&TopologyObject> {
    unit.ancestors().find(|object| object.object_type() == kind)
}

/// The processors below an object, ascending.
fn below(object: &TopologyObject) -> Vec<ProcessorId> {
    let set = object.cpuset();
    let indices = set.iter().flat_map(|set| set.iter_set());
    indices.filter_map(|index| id(usize::from(index))).collect()
}

fn id(number: usize) -> Option<ProcessorId> {
    u32::try_from(number).ok().map(ProcessorId::new)
}
