//! Where each shard goes: the placement against what this process may use.

use std::num::NonZero;

use thread_aware::affinity::{Affinity, pinned_affinities};
use thread_aware::topology::{NodeId, ProcessorId, Topology};

use crate::error::StartError;
use crate::settings::{IdlePolicy, Placement};

/// Shards a runtime at most: the mesh has a way a pair.
const SHARDS_MAX: usize = 4096;

/// One shard's place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seat {
    /// The processor to pin to, or none.
    pub(crate) processor: Option<ProcessorId>,
    pub(crate) affinity: Affinity,
}

/// All seats, and the idle policy that fits them.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) seats: Vec<Seat>,
    pub(crate) idle: IdlePolicy,
}

/// Places `shards` shards, or as many as `placement` has processors for.
///
/// More shards than those are seated round-robin, and none of them spins.
pub(crate) fn plan(
    topology: &Topology,
    placement: &Placement,
    shards: Option<NonZero<usize>>,
    idle: IdlePolicy,
) -> Result<Plan, StartError> {
    if let Placement::Unpinned(count) = placement {
        return unpinned(topology, shards.map_or(*count, NonZero::get), idle);
    }
    let processors = processors(topology, placement)?;
    let limit = NonZero::new(processors.len()).ok_or(StartError::NoProcessor)?;
    let count = checked(shards.unwrap_or(limit))?;
    let seated: Vec<_> = processors.iter().copied().cycle().take(count).collect();
    let affinities = topology.affinities(&seated)?;
    let seats = seated.iter().zip(affinities);
    Ok(Plan {
        seats: seats
            .map(|(&processor, affinity)| Seat {
                processor: Some(processor),
                affinity,
            })
            .collect(),
        idle: if count > limit.get() {
            IdlePolicy::Park
        } else {
            idle
        },
    })
}

/// The processors of a placement, one a shard.
fn processors(topology: &Topology, placement: &Placement) -> Result<Vec<ProcessorId>, StartError> {
    let cores = topology.physical_cores();
    let mut processors: Vec<_> = match placement {
        Placement::PhysicalCores => cores.iter().map(|core| core.processor()).collect(),
        Placement::LogicalCores => topology.by_preference(),
        Placement::Numa(node) => {
            let on_node = |core: &&_| is_on(core, *node);
            cores
                .iter()
                .filter(on_node)
                .map(|core| core.processor())
                .collect()
        }
        // Named processors are the caller's own choice: no quota cuts them.
        Placement::Cores(list) => return named(topology, list),
        Placement::Unpinned(_) => Vec::new(),
    };
    if let Some(quota) = topology.quota() {
        processors.truncate((quota.floor() as usize).max(1));
    }
    Ok(processors)
}

fn is_on(core: &thread_aware::topology::Core, node: usize) -> bool {
    u32::try_from(node).is_ok_and(|node| core.node() == NodeId::new(node))
}

fn named(topology: &Topology, list: &[usize]) -> Result<Vec<ProcessorId>, StartError> {
    let processors: Vec<_> = list
        .iter()
        .map(|&number| match u32::try_from(number) {
            Ok(id) => Ok(ProcessorId::new(id)),
            Err(_) => Err(StartError::Processor(number)),
        })
        .collect::<Result<_, _>>()?;
    topology.affinities(&processors)?;
    Ok(processors)
}

fn unpinned(topology: &Topology, count: usize, idle: IdlePolicy) -> Result<Plan, StartError> {
    let count = checked(NonZero::new(count).ok_or(StartError::NoShards)?)?;
    let seats = pinned_affinities(&[count]);
    let crowded = count > topology.shard_limit().get();
    Ok(Plan {
        seats: seats
            .into_iter()
            .map(|affinity| Seat {
                processor: None,
                affinity,
            })
            .collect(),
        idle: if crowded { IdlePolicy::Park } else { idle },
    })
}

fn checked(count: NonZero<usize>) -> Result<usize, StartError> {
    if count.get() > SHARDS_MAX {
        return Err(StartError::TooManyShards(count));
    }
    Ok(count.get())
}

#[cfg(test)]
mod tests;
