//! The topology itself and the questions that it answers.

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZero,
    vec::Vec,
};

use super::{
    cgroup::Groups,
    core::{Core, Distance, Origin, Processor},
    description::Description,
    error::TopologyError,
    ids::{CoreId, L3Id, NodeId, ProcessorId},
    source::Source,
};
use crate::affinity::{Affinity, machine_affinities};

/// The part of a machine that this process may use, as it was when it was read.
///
/// It holds the physical cores with at least one allowed processor. A processor is allowed when it
/// is online, in the affinity mask and in the cpuset.
///
/// ```
/// use thread_aware::topology::{Distance, Topology};
///
/// let topology = Topology::detect()?;
/// assert!(topology.shard_limit().get() <= topology.physical_cores().len());
/// for core in topology.physical_cores() {
///     let first = core.processor();
///     assert_eq!(topology.distance(first, first), Some(Distance::SameCore));
/// }
/// # Ok::<(), thread_aware::topology::TopologyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Topology {
    /// By their first allowed processor.
    cores: Vec<Core>,
    core_of: BTreeMap<ProcessorId, CoreId>,
    /// Ascending.
    allowed: Vec<ProcessorId>,
    /// One for each of `allowed`.
    affinities: Vec<Affinity>,
    quota: Option<f64>,
    origin: Origin,
}

impl Topology {
    /// Reads the topology of this machine for this process.
    ///
    /// It takes about ten small file reads a processor, so call it once.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read).
    pub fn detect() -> Result<Self, TopologyError> {
        Self::read(&Source::system())
    }

    /// Reads a topology from `source`.
    ///
    /// # Errors
    ///
    /// [`TopologyError`] when a file is there but cannot be read, does not hold what the kernel
    /// writes there, or contradicts another one; when the mask cannot be told; and when no
    /// processor is left. Files that are missing are no error: [`Origin`] tells the consequence.
    pub fn read(source: &Source) -> Result<Self, TopologyError> {
        let groups = Groups::read(source)?;
        let mask = source.mask()?;
        let description = Description::of(source)?;
        let online = description.online()?;
        let cpuset = groups.cpuset()?;
        let within = |set: &Option<Vec<ProcessorId>>, id: &ProcessorId| match set {
            Some(set) => set.binary_search(id).is_ok(),
            None => true,
        };
        let mut allowed = mask;
        allowed.retain(|id| within(&online, id) && within(&cpuset, id));
        if allowed.is_empty() {
            return Err(TopologyError::NoProcessor);
        }
        let online = online.unwrap_or_else(|| allowed.clone());
        let (cores, origin) = cores(&description, &allowed, &online)?;
        let core_of = cores
            .iter()
            .flat_map(|core| {
                core.processors
                    .iter()
                    .map(|processor| (processor.id, core.id))
            })
            .collect();
        let quota = groups.quota()?;
        let affinities = Vec::new();
        let mut topology = Self {
            cores,
            core_of,
            allowed,
            affinities,
            quota,
            origin,
        };
        topology.affinities = topology.affinities(&topology.allowed)?;
        Ok(topology)
    }

    /// The physical cores that have an allowed processor, by their first allowed processor.
    #[must_use]
    pub fn physical_cores(&self) -> &[Core] {
        &self.cores
    }

    /// The logical processors that are allowed, ascending.
    #[must_use]
    pub fn allowed(&self) -> &[ProcessorId] {
        &self.allowed
    }

    /// How many processors' worth of time the control groups grant, or `None` without a limit.
    #[must_use]
    pub fn quota(&self) -> Option<f64> {
        self.quota
    }

    /// How many shards make sense: one a physical core, within the quota rounded down, at least
    /// one.
    #[must_use]
    pub fn shard_limit(&self) -> NonZero<usize> {
        // A float becomes the nearest integer that there is: no quota overflows.
        let granted = self
            .quota
            .map_or(usize::MAX, |quota| quota.floor() as usize);
        NonZero::new(self.cores.len().min(granted)).unwrap_or(NonZero::<usize>::MIN)
    }

    /// What the cores were read from.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// The core of a processor, if it is one of [`physical_cores`](Self::physical_cores).
    #[must_use]
    pub fn core_of(&self, processor: ProcessorId) -> Option<&Core> {
        self.core_of
            .get(&processor)
            .map(|id| &self.cores[id.number() as usize])
    }

    /// The online processors of a processor's core, itself included: the allowed ones first, each
    /// kind ascending. Empty if its core is not one of [`physical_cores`](Self::physical_cores).
    #[must_use]
    pub fn siblings(&self, processor: ProcessorId) -> &[Processor] {
        self.core_of(processor).map_or(&[], Core::processors)
    }

    /// The memory nodes of the [`physical_cores`](Self::physical_cores), ascending: the place of
    /// each is the region of its processors' [affinities](Self::affinity_of).
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        let nodes: BTreeSet<_> = self.cores.iter().map(Core::node).collect();
        nodes.into_iter().collect()
    }

    /// The groups of [`physical_cores`](Self::physical_cores) that share a third-level cache,
    /// ascending; a core without one is in no group.
    #[must_use]
    pub fn l3_groups(&self) -> BTreeMap<L3Id, Vec<CoreId>> {
        let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for core in &self.cores {
            if let Some(l3) = core.l3 {
                groups.entry(l3).or_default().push(core.id);
            }
        }
        groups
    }

    /// The memory node of a processor, if its core is one of
    /// [`physical_cores`](Self::physical_cores).
    #[must_use]
    pub fn node_of(&self, processor: ProcessorId) -> Option<NodeId> {
        self.core_of(processor).map(Core::node)
    }

    /// How far apart two processors are, if the cores of both are among
    /// [`physical_cores`](Self::physical_cores).
    #[must_use]
    pub fn distance(&self, a: ProcessorId, b: ProcessorId) -> Option<Distance> {
        Some(Distance::between(self.core_of(a)?, self.core_of(b)?))
    }

    /// The affinity of an allowed processor among all [`allowed`](Self::allowed) ones.
    ///
    /// Two topologies with the same allowed processors on the same nodes give equal affinities.
    #[must_use]
    pub fn affinity_of(&self, processor: ProcessorId) -> Option<Affinity> {
        self.allowed
            .binary_search(&processor)
            .ok()
            .map(|index| self.affinities[index])
    }

    /// The affinities of shards that run on `processors`, one each, in their order.
    ///
    /// They form a topology of their own: the affinity of shard `i` has the processor index `i`,
    /// and the memory regions are the nodes of these processors. A processor may be named more
    /// than once, for shards that share it. Equal lists on equal nodes give equal affinities.
    ///
    /// # Errors
    ///
    /// [`TopologyError::NotAllowed`] when one of them is not allowed, and
    /// [`TopologyError::TooMany`].
    pub fn affinities(&self, processors: &[ProcessorId]) -> Result<Vec<Affinity>, TopologyError> {
        if processors.len() > Affinity::COUNT_MAX {
            return Err(TopologyError::TooMany(processors.len()));
        }
        let mut sites = Vec::with_capacity(processors.len());
        for &processor in processors {
            match self.node_of(processor) {
                Some(node) if self.allowed.binary_search(&processor).is_ok() => {
                    sites.push((processor.number(), node.number()));
                }
                _ => return Err(TopologyError::NotAllowed(processor)),
            }
        }
        Ok(machine_affinities(&sites))
    }

    /// The allowed processors in the order in which shards should take them: first one of every
    /// core, then their first siblings, and so on.
    #[must_use]
    pub fn by_preference(&self) -> Vec<ProcessorId> {
        let mut ranked: Vec<_> = self
            .cores
            .iter()
            .flat_map(|core| {
                core.allowed()
                    .enumerate()
                    .map(|(rank, id)| (rank, core.id, id))
            })
            .collect();
        ranked.sort_unstable();
        ranked.into_iter().map(|(_, _, id)| id).collect()
    }
}

/// The cores of the allowed processors.
fn cores(
    description: &Description<'_>,
    allowed: &[ProcessorId],
    online: &[ProcessorId],
) -> Result<(Vec<Core>, Origin), TopologyError> {
    let nodes = description.nodes()?;
    let mut cores: Vec<Core> = Vec::new();
    let mut seen: BTreeMap<ProcessorId, CoreId> = BTreeMap::new();
    let mut origin = Origin::Mask;
    for &processor in allowed {
        let site = description.site(processor, online)?;
        if site.told {
            origin = description.origin();
        }
        if let Some(core) = seen.get(&processor) {
            let core = &cores[core.number() as usize];
            let mut known: Vec<_> = core
                .processors
                .iter()
                .map(|processor| processor.id)
                .collect();
            known.sort_unstable();
            if known != site.siblings {
                return Err(TopologyError::Contradiction {
                    path: site.path,
                    processor,
                });
            }
            continue;
        }
        let number = u32::try_from(cores.len()).expect("no more cores than processor numbers");
        let id = CoreId::new(number);
        for &sibling in &site.siblings {
            if seen.insert(sibling, id).is_some() {
                return Err(TopologyError::Contradiction {
                    path: site.path,
                    processor: sibling,
                });
            }
        }
        let mut processors: Vec<_> = site
            .siblings
            .iter()
            .map(|&id| Processor {
                id,
                allowed: allowed.binary_search(&id).is_ok(),
            })
            .collect();
        processors.sort_by_key(|processor| !processor.allowed);
        let node = nodes.get(&processor).copied().unwrap_or(NodeId::new(0));
        cores.push(Core {
            id,
            processors,
            node,
            socket: site.socket,
            l3: site.l3,
        });
    }
    Ok((cores, origin))
}
