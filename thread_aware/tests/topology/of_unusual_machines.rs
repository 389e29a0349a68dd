//! Machines with hybrid cores, offline processors, nodes without processors or with holes between
//! their numbers, and caches that nodes share.

use super::tree::{CoreOf, Tree, core, ids};
use thread_aware::topology::{
    Core, CoreId, Distance, L3Id, NodeId, ProcessorId, SocketId, Topology,
};

fn distance(topology: &Topology, a: u32, b: u32) -> Option<Distance> {
    topology.distance(ProcessorId::new(a), ProcessorId::new(b))
}

/// The region and the number of regions of each allowed processor.
fn regions(topology: &Topology) -> Vec<(usize, usize)> {
    let affinities = topology
        .allowed()
        .iter()
        .map(|&id| topology.affinity_of(id));
    affinities
        .map(|affinity| affinity.expect("it is allowed"))
        .map(|affinity| {
            (
                affinity.memory_region_index(),
                affinity.memory_region_count(),
            )
        })
        .collect()
}

/// Four fast cores of two processors, then two clusters of four slow ones with a cache each.
pub(crate) fn hybrid() -> Vec<CoreOf> {
    let fast = (0..4).map(|n| core(&[2 * n, 2 * n + 1]));
    let slow = (8..16).map(|n| CoreOf {
        l3: 1 + (n - 8) / 4,
        ..core(&[n])
    });
    fast.chain(slow).collect()
}

/// Two sockets whose nodes are numbered 0 and 8, as on POWER, with processors in holes too.
pub(crate) fn nodes_with_holes() -> Vec<CoreOf> {
    let socket = |node, first: u32| {
        (0..2).map(move |n| CoreOf {
            node,
            socket: node,
            l3: node,
            ..core(&[first + 8 * n, first + 8 * n + 1])
        })
    };
    socket(0, 0).chain(socket(8, 80)).collect()
}

/// One socket that is divided into two nodes below a common cache.
pub(crate) fn divided_socket() -> Vec<CoreOf> {
    let on = |n| CoreOf {
        node: n / 2,
        ..core(&[n])
    };
    (0..4).map(on).collect()
}

#[test]
fn hybrid_cores_are_used_alike_and_clusters_share_their_cache() {
    let topology = Tree::of(&hybrid()).topology(0..16);
    assert_eq!(topology.physical_cores().len(), 12);
    assert_eq!(topology.shard_limit().get(), 12);
    let first: Vec<u32> = [0, 2, 4, 6]
        .into_iter()
        .chain(8..16)
        .chain([1, 3, 5, 7])
        .collect();
    assert_eq!(topology.by_preference(), ids(first));
    let groups: Vec<_> = topology.l3_groups().into_iter().collect();
    let cores = |range: std::ops::Range<u32>| range.map(CoreId::new).collect::<Vec<_>>();
    let first = L3Id::new;
    assert_eq!(
        groups,
        [
            (first(0), cores(0..4)),
            (first(8), cores(4..8)),
            (first(12), cores(8..12))
        ]
    );
    assert_eq!(distance(&topology, 0, 1), Some(Distance::SameCore));
    assert_eq!(distance(&topology, 0, 6), Some(Distance::SameL3));
    assert_eq!(distance(&topology, 8, 11), Some(Distance::SameL3));
    assert_eq!(distance(&topology, 8, 12), Some(Distance::SameNode));
    assert_eq!(distance(&topology, 0, 8), Some(Distance::SameNode));
}

#[test]
fn a_core_that_is_offline_is_no_core() {
    let tree = Tree::of(&hybrid());
    // Both processors of the second core, and one slow core; the kernel takes their files away.
    tree.write("sys/devices/system/cpu/online", "0-1,4-9,11-15");
    for processor in [2, 3, 10] {
        tree.remove(&format!("sys/devices/system/cpu/cpu{processor}"));
    }
    let topology = tree.topology(0..16);
    assert_eq!(topology.physical_cores().len(), 10);
    assert_eq!(topology.core_of(ProcessorId::new(2)).map(Core::id), None);
    assert_eq!(topology.affinity_of(ProcessorId::new(10)), None);
    let last = topology
        .affinity_of(ProcessorId::new(15))
        .expect("it is allowed");
    assert_eq!((last.processor_index(), last.processor_count()), (12, 13));
    assert!(topology.affinities(&ids([2])).is_err());
}

#[test]
fn nodes_with_holes_between_their_numbers_become_regions_without() {
    let topology = Tree::of(&nodes_with_holes()).topology(0..1024);
    assert_eq!(topology.allowed(), ids([0, 1, 8, 9, 80, 81, 88, 89]));
    let (near, far) = ((0, 2), (1, 2));
    assert_eq!(
        regions(&topology),
        [near, near, near, near, far, far, far, far]
    );
    let last = topology
        .core_of(ProcessorId::new(89))
        .expect("it is allowed");
    assert_eq!(
        (last.node(), last.socket()),
        (NodeId::new(8), SocketId::new(8))
    );
    assert_eq!(topology.nodes(), [NodeId::new(0), NodeId::new(8)]);
    assert_eq!(distance(&topology, 0, 9), Some(Distance::SameL3));
    assert_eq!(distance(&topology, 0, 80), Some(Distance::Remote));
}

#[test]
fn a_node_of_memory_alone_is_no_region() {
    let tree = Tree::of(&nodes_with_holes());
    tree.write("sys/devices/system/node/online", "0,8,252-253");
    for node in [252, 253] {
        tree.write(&format!("sys/devices/system/node/node{node}/cpulist"), "");
    }
    let topology = tree.topology([0, 80]);
    assert_eq!(regions(&topology), [(0, 2), (1, 2)]);
}

#[test]
fn a_mask_on_one_node_has_one_region() {
    let topology = Tree::of(&nodes_with_holes()).topology([81, 88]);
    assert_eq!(regions(&topology), [(0, 1), (0, 1)]);
    assert_eq!(topology.nodes(), [NodeId::new(8)]);
    let siblings = topology.siblings(ProcessorId::new(88)).iter();
    let siblings: Vec<_> = siblings
        .map(|p| (p.id().number(), p.is_allowed()))
        .collect();
    assert_eq!(siblings, [(88, true), (89, false)]);
    assert!(topology.siblings(ProcessorId::new(0)).is_empty());
    assert_eq!(topology.node_of(ProcessorId::new(81)), Some(NodeId::new(8)));
}

#[test]
fn a_cache_may_be_larger_than_a_node() {
    let topology = Tree::of(&divided_socket()).topology(0..4);
    assert_eq!(regions(&topology), [(0, 2), (0, 2), (1, 2), (1, 2)]);
    assert_eq!(distance(&topology, 0, 3), Some(Distance::SameL3));
}
