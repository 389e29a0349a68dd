//! Affinities of processors that a machine really has.

use std::{
    sync::{Mutex, PoisonError},
    vec::Vec,
};

use super::{
    interner::Interner,
    value::{Affinity, TopologyId},
};

static MACHINES: Mutex<Interner<(u32, u32)>> = Mutex::new(Interner::new());

/// The affinities of a list of processors, each with its memory node, in that order.
///
/// Nodes become regions by their number. The caller checked that there are at most
/// [`Affinity::COUNT_MAX`] processors. Equal lists give equal affinities.
pub(crate) fn machine_affinities(sites: &[(u32, u32)]) -> Vec<Affinity> {
    let topology = {
        let mut machines = MACHINES.lock().unwrap_or_else(PoisonError::into_inner);
        TopologyId::machine(machines.number(sites))
    };
    let mut nodes: Vec<u32> = sites.iter().map(|&(_, node)| node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let narrow = |n: usize| u16::try_from(n).expect("at most as many as processors: checked");
    let (processors, regions) = (narrow(sites.len()), narrow(nodes.len()));
    (0..processors)
        .zip(sites)
        .map(|(processor, (_, node))| {
            let region = narrow(nodes.partition_point(|other| other < node));
            Affinity::new(topology, (processor, processors), (region, regions))
        })
        .collect()
}
