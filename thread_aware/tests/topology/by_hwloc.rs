//! Feature `hwloc`: libhwloc gives the answers that the kernel's files give, on the machine at hand
//! and on described ones.

use std::{env, process::Command};

use super::{
    of_unusual_machines::{divided_socket, hybrid, nodes_with_holes},
    tree::{Tree, core, four_by_two, ids, two_sockets},
};
use thread_aware::topology::{Origin, Source, Topology};

/// Where libhwloc looks for its files; it reads this itself, at any time, so only a process of its
/// own can have it.
const ROOT: &str = "HWLOC_FSROOT";

/// Every answer of a topology, as text that shows where two of them differ.
fn answers(topology: &Topology) -> Vec<String> {
    let mut answers = vec![
        format!("allowed {:?}", topology.allowed()),
        format!("preferred {:?}", topology.by_preference()),
        format!(
            "shards {}, quota {:?}",
            topology.shard_limit(),
            topology.quota()
        ),
    ];
    answers.push(format!(
        "nodes {:?}, L3 {:?}",
        topology.nodes(),
        topology.l3_groups()
    ));
    for core in topology.physical_cores() {
        answers.push(format!("{core:?}"));
    }
    for &a in topology.allowed() {
        answers.push(format!(
            "{a}: {:?} {:?}",
            topology.node_of(a),
            topology.affinity_of(a)
        ));
        for &b in topology.allowed() {
            answers.push(format!("{a} to {b}: {:?}", topology.distance(a, b)));
        }
    }
    answers
}

#[test]
fn both_sources_agree_on_the_machine() {
    let source = match env::var_os(ROOT) {
        Some(root) => Source::recorded(root, ids(0..256)),
        None => Source::system(),
    };
    let files = Topology::read(&source).expect("the machine can be read");
    let library = Topology::read(&source.by_hwloc()).expect("libhwloc can read it too");
    assert_eq!(answers(&files), answers(&library));
    assert_eq!(
        (files.origin(), library.origin()),
        (Origin::Sysfs, Origin::Hwloc)
    );
}

/// Runs the test above in a process for which `tree` is the machine.
fn agree_on(name: &str, tree: &Tree) {
    let output = Command::new(env::current_exe().expect("this test has a file"))
        .args(["--exact", "by_hwloc::both_sources_agree_on_the_machine"])
        .env(ROOT, tree.root())
        .output()
        .expect("this test can be run again");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{name}: {text}"
    );
}

#[test]
fn both_sources_agree_on_described_machines() {
    let machines = [
        ("one core", vec![core(&[0])]),
        ("two cores", vec![core(&[0]), core(&[1])]),
        ("four cores of two processors", four_by_two()),
        ("two sockets", two_sockets()),
        ("hybrid cores", hybrid()),
        ("holes", nodes_with_holes()),
        ("a divided socket", divided_socket()),
    ];
    for (name, cores) in machines {
        agree_on(name, &Tree::of(&cores));
    }
}

#[test]
fn both_sources_agree_on_offline_processors() {
    let tree = Tree::of(&four_by_two());
    tree.write("sys/devices/system/cpu/online", "0,2-6");
    for offline in [1, 7] {
        tree.remove(&format!("sys/devices/system/cpu/cpu{offline}"));
    }
    for (processor, set) in [(5, "00000020"), (3, "00000008")] {
        let topology = format!("sys/devices/system/cpu/cpu{processor}/topology");
        tree.write(&format!("{topology}/core_cpus"), set);
        tree.write(&format!("{topology}/core_cpus_list"), processor.to_string());
    }
    agree_on("offline processors", &tree);
}

#[test]
fn both_sources_agree_on_an_allowed_part() {
    let tree = Tree::of(&two_sockets());
    tree.write("proc/self/cgroup", "0::/");
    tree.write("sys/fs/cgroup/cpuset.cpus.effective", "5,40,66");
    agree_on("a cpuset", &tree);
}
