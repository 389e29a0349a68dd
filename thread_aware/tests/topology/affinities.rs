//! Affinities of real processors: equal for equal processors, and never those of another topology.

use std::collections::HashSet;

use super::tree::{CoreOf, Tree, core, four_by_two, ids};
use thread_aware::{
    affinity::{Affinity, current, pinned_affinities},
    topology::{ProcessorId, TopologyError},
};

/// Four cores on a node each.
fn four_nodes() -> Vec<CoreOf> {
    let on_node = |node| CoreOf {
        node,
        ..core(&[node])
    };
    (0..4).map(on_node).collect()
}

// proves: TA-9
#[test]
fn equal_machines_give_equal_affinities() {
    let (one, other) = (Tree::of(&four_by_two()), Tree::of(&four_by_two()));
    let (one, other) = (one.topology(0..8), other.topology(0..8));
    for &id in one.allowed() {
        assert_eq!(one.affinity_of(id), other.affinity_of(id));
        assert!(one.affinity_of(id).is_some());
    }
}

// proves: TA-9
#[test]
fn topologies_of_equal_size_do_not_alias() {
    let tree = Tree::of(&four_nodes());
    let masks: [&[u32]; 4] = [&[0, 1], &[0, 2], &[0, 3], &[1, 2]];
    let mut seen: HashSet<_> = masks
        .iter()
        .map(|mask| {
            let topology = tree.topology(mask.iter().copied());
            topology
                .affinity_of(topology.allowed()[0])
                .expect("it is allowed")
                .topology()
        })
        .collect();
    seen.insert(pinned_affinities(&[2])[0].topology());
    seen.insert(pinned_affinities(&[1, 1])[0].topology());
    seen.insert(current().topology());
    assert_eq!(seen.len(), masks.len() + 3);
}

// proves: TA-9
#[test]
fn the_same_processors_on_other_nodes_are_another_topology() {
    let mut cores = four_by_two();
    let ids: HashSet<_> = [[0, 0], [0, 1], [1, 0]]
        .map(|nodes| {
            [cores[0].node, cores[3].node] = nodes;
            let topology = Tree::of(&cores).topology([0, 3]);
            let first = topology.affinity_of(ProcessorId::new(0));
            first.expect("it is allowed").topology()
        })
        .into();
    assert_eq!(ids.len(), 3);
}

#[test]
fn affinities_of_shards_follow_the_order_in_which_processors_are_named() {
    let topology = Tree::of(&four_nodes()).topology(0..4);
    let shards = topology
        .affinities(&ids([2, 0, 1]))
        .expect("all are allowed");
    let indices: Vec<_> = shards
        .iter()
        .map(|a| (a.processor_index(), a.memory_region_index()))
        .collect();
    assert_eq!(indices, [(0, 2), (1, 0), (2, 1)]);
    assert!(
        shards
            .iter()
            .all(|a| (a.processor_count(), a.memory_region_count()) == (3, 3))
    );
    assert_eq!(topology.affinities(&ids([2, 0, 1])).ok(), Some(shards));
}

#[test]
fn shards_that_share_a_processor_have_affinities_of_their_own() {
    let topology = Tree::of(&four_by_two()).topology([0, 1]);
    let shards = topology
        .affinities(&ids([0, 1, 0, 1]))
        .expect("all are allowed");
    assert_eq!(shards.iter().collect::<HashSet<_>>().len(), 4);
    assert!(shards.iter().all(|shard| shard.processor_count() == 4));
}

#[test]
fn affinities_of_processors_that_are_not_allowed_are_refused() {
    let topology = Tree::of(&four_by_two()).topology([0, 1]);
    for not_allowed in [4, 2, 9] {
        let refused = topology.affinities(&ids([0, not_allowed]));
        assert!(
            matches!(refused, Err(TopologyError::NotAllowed(id)) if id.number() == not_allowed)
        );
    }
    let too_many = vec![ProcessorId::new(0); Affinity::COUNT_MAX + 1];
    assert!(matches!(
        topology.affinities(&too_many),
        Err(TopologyError::TooMany(_))
    ));
    assert_eq!(topology.affinities(&[]).ok(), Some(Vec::new()));
}
