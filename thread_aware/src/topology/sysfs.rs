//! What `/sys/devices/system` says about processors and nodes (kernel documentation: "How CPU
//! topology info is exported via sysfs", ABI `sysfs-devices-system-cpu` and
//! `stable/sysfs-devices-node`).

use std::{collections::BTreeMap, format, vec, vec::Vec};

use super::{
    description::Site,
    error::{Fault, TopologyError},
    ids::{L3Id, NodeId, ProcessorId, SocketId},
    source::Source,
};

const CPU: &str = "sys/devices/system/cpu";
const NODE: &str = "sys/devices/system/node";

/// The most cache descriptions of one processor that are looked at; real ones have four or five.
const CACHES_MAX: u32 = 16;

/// The processors that are online, or `None` where the files are missing.
pub(super) fn online(source: &Source) -> Result<Option<Vec<ProcessorId>>, TopologyError> {
    source
        .read(&format!("{CPU}/online"))?
        .map(|text| text.processors())
        .transpose()
}

/// Where `processor` sits; `online` ascends.
pub(super) fn site(
    source: &Source,
    processor: ProcessorId,
    online: &[ProcessorId],
) -> Result<Site, TopologyError> {
    let directory = format!("{CPU}/cpu{}", processor.number());
    // The second name is the one of kernels before 5.3.
    let text = match source.read(&format!("{directory}/topology/core_cpus_list"))? {
        Some(text) => Some(text),
        None => source.read(&format!("{directory}/topology/thread_siblings_list"))?,
    };
    let (siblings, path, told) = match text {
        Some(text) => {
            let mut siblings = text.processors()?;
            siblings.retain(|sibling| online.binary_search(sibling).is_ok());
            (siblings, text.path().into(), true)
        }
        None => (vec![processor], source.path(&directory), false),
    };
    if !siblings.contains(&processor) {
        return Err(TopologyError::Contradiction { path, processor });
    }
    let socket = socket(source, &directory)?;
    let l3 = l3(source, &directory, processor)?;
    Ok(Site {
        siblings,
        socket,
        l3,
        path,
        told,
    })
}

/// The socket; the kernel says -1 where it does not know, which counts as one socket for all.
fn socket(source: &Source, directory: &str) -> Result<SocketId, TopologyError> {
    let Some(text) = source.read(&format!("{directory}/topology/physical_package_id"))? else {
        return Ok(SocketId::new(0));
    };
    match text.number::<i64>()? {
        -1 => Ok(SocketId::new(0)),
        number => match u32::try_from(number) {
            Ok(number) => Ok(SocketId::new(number)),
            Err(_) => Err(text.malformed(Fault::OutOfRange)),
        },
    }
}

fn l3(
    source: &Source,
    directory: &str,
    processor: ProcessorId,
) -> Result<Option<L3Id>, TopologyError> {
    for index in 0..CACHES_MAX {
        let cache = format!("{directory}/cache/index{index}");
        let Some(level) = source.read(&format!("{cache}/level"))? else {
            return Ok(None);
        };
        if level.number::<u32>()? != 3 {
            continue;
        }
        let Some(text) = source.read(&format!("{cache}/shared_cpu_list"))? else {
            return Ok(None);
        };
        let sharing = text.processors()?;
        if !sharing.contains(&processor) {
            let path = text.path().into();
            return Err(TopologyError::Contradiction { path, processor });
        }
        return Ok(Some(L3Id::new(sharing[0].number())));
    }
    Ok(None)
}

/// The node of every processor that a node lists; a processor in none counts to node 0.
pub(super) fn nodes(source: &Source) -> Result<BTreeMap<ProcessorId, NodeId>, TopologyError> {
    let mut nodes = BTreeMap::new();
    let Some(online) = source.read(&format!("{NODE}/online"))? else {
        return Ok(nodes);
    };
    for number in online.numbers()? {
        let Some(text) = source.read(&format!("{NODE}/node{number}/cpulist"))? else {
            continue;
        };
        for processor in text.processors_if_any()? {
            if nodes.insert(processor, NodeId::new(number)).is_some() {
                let path = text.path().into();
                return Err(TopologyError::Contradiction { path, processor });
            }
        }
    }
    Ok(nodes)
}
