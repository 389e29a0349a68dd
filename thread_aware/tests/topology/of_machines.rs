//! What a topology says of machines whose files are written for the test.

use super::tree::{Tree, core, four_by_two, ids, two_sockets};
use thread_aware::topology::{
    Core, Distance, NodeId, Origin, ProcessorId, SocketId, Topology, TopologyError,
};

/// The processors of each core, the allowed ones before the bar.
fn cores(topology: &Topology) -> Vec<String> {
    let text = |core: &Core, allowed: bool| {
        let processors = core
            .processors()
            .iter()
            .filter(|p| p.is_allowed() == allowed);
        processors
            .map(|p| p.id().number().to_string())
            .collect::<Vec<_>>()
            .join(" ")
    };
    topology
        .physical_cores()
        .iter()
        .map(|core| format!("{}|{}", text(core, true), text(core, false)))
        .collect()
}

fn distance(topology: &Topology, a: u32, b: u32) -> Option<Distance> {
    topology.distance(ProcessorId::new(a), ProcessorId::new(b))
}

#[test]
fn a_machine_of_one_core_has_one_shard() {
    let topology = Tree::of(&[core(&[0])]).topology([0]);
    assert_eq!(cores(&topology), ["0|"]);
    assert_eq!(topology.shard_limit().get(), 1);
    assert_eq!(topology.origin(), Origin::Sysfs);
    assert_eq!(topology.quota(), None);
    let affinity = topology
        .affinity_of(ProcessorId::new(0))
        .expect("it is allowed");
    assert_eq!(
        (affinity.processor_count(), affinity.memory_region_count()),
        (1, 1)
    );
}

#[test]
fn a_machine_of_two_cores_has_two_shards_that_share_a_cache() {
    let topology = Tree::of(&[core(&[0]), core(&[1])]).topology([0, 1]);
    assert_eq!(cores(&topology), ["0|", "1|"]);
    assert_eq!(topology.shard_limit().get(), 2);
    assert_eq!(distance(&topology, 0, 1), Some(Distance::SameL3));
    assert_eq!(distance(&topology, 0, 0), Some(Distance::SameCore));
}

#[test]
fn siblings_share_a_core_and_a_shard() {
    let topology = Tree::of(&four_by_two()).topology(0..8);
    assert_eq!(cores(&topology), ["0 4|", "1 5|", "2 6|", "3 7|"]);
    assert_eq!(topology.shard_limit().get(), 4);
    assert_eq!(topology.allowed(), ids(0..8));
    assert_eq!(distance(&topology, 1, 5), Some(Distance::SameCore));
    assert_eq!(distance(&topology, 1, 6), Some(Distance::SameL3));
    assert_eq!(topology.by_preference(), ids([0, 1, 2, 3, 4, 5, 6, 7]));
}

#[test]
fn two_sockets_of_four_nodes_have_every_class_of_distance() {
    let topology = Tree::of(&two_sockets()).topology(0..128);
    assert_eq!(topology.physical_cores().len(), 64);
    assert_eq!(topology.shard_limit().get(), 64);
    assert_eq!(distance(&topology, 0, 64), Some(Distance::SameCore));
    assert_eq!(distance(&topology, 0, 3), Some(Distance::SameL3));
    assert_eq!(distance(&topology, 0, 4), Some(Distance::SameNode));
    assert_eq!(distance(&topology, 0, 16), Some(Distance::SameSocket));
    assert_eq!(distance(&topology, 0, 32), Some(Distance::Remote));
    let order = [
        Distance::SameCore,
        Distance::SameL3,
        Distance::SameNode,
        Distance::SameSocket,
        Distance::Remote,
    ];
    assert!(order.is_sorted());
    for (a, b) in (0..128).flat_map(|a| (0..a).map(move |b| (a, b))) {
        assert_eq!(distance(&topology, a, b), distance(&topology, b, a));
    }
    for (index, core) in topology.physical_cores().iter().enumerate() {
        assert_eq!(core.id().number() as usize, index);
        assert_eq!(core.node().number() as usize, index / 16);
        assert_eq!(core.socket().number() as usize, index / 32);
        assert_eq!(
            core.l3().map(|l3| l3.number() as usize),
            Some(index / 4 * 4)
        );
    }
    let last = topology
        .affinity_of(ProcessorId::new(127))
        .expect("it is allowed");
    assert_eq!(
        (last.processor_index(), last.memory_region_index()),
        (127, 3)
    );
    assert_eq!(
        (last.processor_count(), last.memory_region_count()),
        (128, 4)
    );
}

#[test]
fn a_scattered_mask_leaves_its_three_cores() {
    let topology = Tree::of(&two_sockets()).topology([5, 40, 66]);
    assert_eq!(cores(&topology), ["5|69", "40|104", "66|2"]);
    assert_eq!(topology.shard_limit().get(), 3);
    assert_eq!(
        topology.physical_cores()[2].processor(),
        ProcessorId::new(66)
    );
    assert_eq!(topology.node_of(ProcessorId::new(40)), Some(NodeId::new(2)));
    assert_eq!(
        topology.node_of(ProcessorId::new(7)),
        None,
        "its core is not allowed"
    );
    assert_eq!(distance(&topology, 5, 7), None);
    assert_eq!(distance(&topology, 5, 69), Some(Distance::SameCore));
    // The nodes 0 and 2 become the regions 0 and 1.
    let regions = ids([5, 40, 66]).into_iter().map(|id| {
        topology
            .affinity_of(id)
            .expect("it is allowed")
            .memory_region_index()
    });
    assert_eq!(regions.collect::<Vec<_>>(), [0, 1, 0]);
    assert_eq!(topology.affinity_of(ProcessorId::new(69)), None);
}

#[test]
fn an_allowed_sibling_of_higher_number_represents_its_core() {
    let topology = Tree::of(&four_by_two()).topology([1, 4, 5]);
    assert_eq!(cores(&topology), ["1 5|", "4|0"]);
    assert_eq!(topology.by_preference(), ids([1, 4, 5]));
}

#[test]
fn hybrid_cores_differ_in_their_number_of_siblings() {
    let machine = [
        core(&[0, 1]),
        core(&[2, 3]),
        core(&[4]),
        core(&[5]),
        core(&[6]),
        core(&[7]),
    ];
    let topology = Tree::of(&machine).topology(0..8);
    assert_eq!(cores(&topology), ["0 1|", "2 3|", "4|", "5|", "6|", "7|"]);
    assert_eq!(topology.by_preference(), ids([0, 2, 4, 5, 6, 7, 1, 3]));
}

#[test]
fn offline_processors_and_holes_in_the_numbering_are_left_out() {
    let tree = Tree::of(&[core(&[0, 9]), core(&[3, 12]), core(&[200])]);
    // Processor 12 went offline and is still in its sibling's list.
    tree.write("sys/devices/system/cpu/online", "0,3,9,200");
    let topology = tree.topology(0..1024);
    assert_eq!(cores(&topology), ["0 9|", "3|", "200|"]);
    assert_eq!(topology.allowed(), ids([0, 3, 9, 200]));
    assert_eq!(topology.core_of(ProcessorId::new(12)).map(Core::id), None);
}

#[test]
fn a_node_without_processors_and_one_without_a_list_do_no_harm() {
    let tree = Tree::of(&[core(&[0]), core(&[1])]);
    tree.write("sys/devices/system/node/online", "0-2");
    tree.write("sys/devices/system/node/node1/cpulist", "");
    let topology = tree.topology([0, 1]);
    assert_eq!(topology.node_of(ProcessorId::new(1)), Some(NodeId::new(0)));
}

#[test]
fn without_sys_every_processor_of_the_mask_is_a_core() {
    let topology = Tree::empty().topology([1, 4, 6]);
    assert_eq!(cores(&topology), ["1|", "4|", "6|"]);
    assert_eq!(topology.origin(), Origin::Mask);
    assert_eq!(topology.shard_limit().get(), 3);
    assert_eq!(topology.physical_cores()[0].l3(), None);
    assert_eq!(distance(&topology, 1, 4), Some(Distance::SameNode));
}

#[test]
fn a_sandbox_that_lists_processors_without_their_topology_says_so() {
    let tree = Tree::empty();
    tree.write("sys/devices/system/cpu/online", "0-1");
    let topology = tree.topology([0, 1, 2]);
    assert_eq!(cores(&topology), ["0|", "1|"]);
    assert_eq!(topology.origin(), Origin::Mask);
}

#[test]
fn the_file_names_of_older_kernels_are_known() {
    let tree = Tree::of(&four_by_two());
    for processor in 0..8 {
        let directory = format!("sys/devices/system/cpu/cpu{processor}/topology");
        tree.remove(&format!("{directory}/core_cpus_list"));
        let core = processor % 4;
        let siblings = format!("{core},{}", core + 4);
        tree.write(&format!("{directory}/thread_siblings_list"), siblings);
    }
    let topology = tree.topology(0..8);
    assert_eq!(cores(&topology), ["0 4|", "1 5|", "2 6|", "3 7|"]);
    assert_eq!(topology.origin(), Origin::Sysfs);
}

#[test]
fn a_socket_that_the_kernel_does_not_know_is_the_first() {
    let tree = Tree::of(&[core(&[0])]);
    tree.write(
        "sys/devices/system/cpu/cpu0/topology/physical_package_id",
        "-1",
    );
    assert_eq!(
        tree.topology([0]).physical_cores()[0].socket(),
        SocketId::new(0)
    );
}

#[test]
fn cores_without_a_third_level_cache_are_as_near_as_their_node() {
    let tree = Tree::of(&[core(&[0]), core(&[1])]);
    tree.remove("sys/devices/system/cpu/cpu0/cache/index1");
    tree.remove("sys/devices/system/cpu/cpu1/cache/index1");
    let topology = tree.topology([0, 1]);
    assert_eq!(topology.physical_cores()[0].l3(), None);
    assert_eq!(distance(&topology, 0, 1), Some(Distance::SameNode));
}

#[test]
fn nothing_left_of_mask_and_online_processors_is_an_error() {
    let tree = Tree::of(&[core(&[0]), core(&[1])]);
    assert!(matches!(tree.read([7]), Err(TopologyError::NoProcessor)));
    assert!(matches!(tree.read([]), Err(TopologyError::NoProcessor)));
    assert!(matches!(
        Tree::empty().read([]),
        Err(TopologyError::NoProcessor)
    ));
}

#[test]
fn an_unordered_mask_with_repetitions_is_put_in_order() {
    let topology = Tree::of(&four_by_two()).topology([3, 1, 3, 0]);
    assert_eq!(topology.allowed(), ids([0, 1, 3]));
}

#[test]
fn this_machine_has_a_topology_that_agrees_with_itself() {
    let topology = Topology::detect().expect("the machine can be read");
    let by_core: usize = topology
        .physical_cores()
        .iter()
        .map(|core| core.processors().iter().filter(|p| p.is_allowed()).count())
        .sum();
    assert_eq!(by_core, topology.allowed().len());
    for &id in topology.allowed() {
        assert!(topology.core_of(id).is_some());
        assert!(topology.affinity_of(id).is_some());
        assert_eq!(topology.distance(id, id), Some(Distance::SameCore));
    }
    let mut preferred = topology.by_preference();
    preferred.sort_unstable();
    assert_eq!(preferred, topology.allowed());
}
