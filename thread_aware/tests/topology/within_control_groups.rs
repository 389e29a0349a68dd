//! How control groups narrow what a process may use.

use super::tree::{Tree, four_by_two, ids};
use thread_aware::topology::{Topology, TopologyError};

/// Four cores of two processors, and more files.
fn with(files: &[(&str, &str)]) -> Tree {
    let tree = Tree::of(&four_by_two());
    for (path, content) in files {
        tree.write(path, content);
    }
    tree
}

fn read(files: &[(&str, &str)]) -> Topology {
    with(files).topology(0..8)
}

#[test]
fn a_quota_of_one_and_a_half_leaves_one_shard() {
    let topology = read(&[("sys/fs/cgroup/cpu.max", "150000 100000")]);
    assert_eq!(topology.quota(), Some(1.5));
    assert_eq!(topology.shard_limit().get(), 1);
    assert_eq!(
        topology.physical_cores().len(),
        4,
        "the cores are still there"
    );
}

#[test]
fn quotas_are_rounded_down_to_at_least_one_shard_and_at_most_the_cores() {
    for (quota, shards) in [
        ("1000", 1),
        ("100000", 1),
        ("299999", 2),
        ("300000", 3),
        ("9999999", 4),
    ] {
        let topology = read(&[("sys/fs/cgroup/cpu.max", &format!("{quota} 100000"))]);
        assert_eq!(topology.shard_limit().get(), shards, "quota {quota}");
    }
}

#[test]
fn no_limit_is_no_quota() {
    assert_eq!(read(&[]).quota(), None);
    assert_eq!(
        read(&[("sys/fs/cgroup/cpu.max", "max 100000")]).quota(),
        None
    );
    assert_eq!(
        read(&[
            ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1"),
            ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000"),
        ])
        .quota(),
        None
    );
}

#[test]
fn the_tightest_quota_on_the_way_up_counts() {
    let membership = ("proc/self/cgroup", "0::/a/b");
    let root = ("sys/fs/cgroup/cpu.max", "max 100000");
    let outer = |quota| ("sys/fs/cgroup/a/cpu.max", quota);
    let inner = |quota| ("sys/fs/cgroup/a/b/cpu.max", quota);
    let quota = |files: &[_]| read(files).quota();
    assert_eq!(
        quota(&[
            membership,
            root,
            outer("200000 100000"),
            inner("max 100000")
        ]),
        Some(2.0)
    );
    assert_eq!(
        quota(&[
            membership,
            root,
            outer("200000 100000"),
            inner("50000 50000")
        ]),
        Some(1.0)
    );
    assert_eq!(
        quota(&[
            membership,
            root,
            outer("1000 10000"),
            inner("300000 100000")
        ]),
        Some(0.1)
    );
    assert_eq!(
        quota(&[("proc/self/cgroup", "0::/other"), root, outer("1000 10000")]),
        None,
        "another group's limit is not ours"
    );
}

#[test]
fn a_quota_of_version_1_counts_wherever_its_controller_is_mounted() {
    for mount in ["cpu", "cpu,cpuacct", "cpuacct,cpu"] {
        let file = |name| format!("sys/fs/cgroup/{mount}/service/{name}");
        let topology = read(&[
            (
                "proc/self/cgroup",
                "4:memory:/other\n3:cpuacct,cpu:/service\n0::/",
            ),
            (&file("cpu.cfs_quota_us"), "250000"),
            (&file("cpu.cfs_period_us"), "100000"),
        ]);
        assert_eq!(topology.quota(), Some(2.5), "{mount}");
        assert_eq!(topology.shard_limit().get(), 2);
    }
}

#[test]
fn beside_version_1_the_unified_hierarchy_is_found_too() {
    let topology = read(&[
        ("proc/self/cgroup", "1:cpuset:/\n0::/s"),
        ("sys/fs/cgroup/unified/s/cpu.max", "200000 100000"),
    ]);
    assert_eq!(topology.quota(), Some(2.0));
}

#[test]
fn a_container_that_sees_the_hosts_path_uses_its_own_mount() {
    for path in ["0::/docker/0123", "0::/../../other"] {
        let topology = read(&[
            ("proc/self/cgroup", path),
            ("sys/fs/cgroup/cpu.max", "300000 100000"),
            ("sys/fs/cgroup/cpuset.cpus.effective", "0-1"),
        ]);
        assert_eq!(topology.quota(), Some(3.0), "{path}");
        assert_eq!(topology.allowed(), ids([0, 1]), "{path}");
    }
}

#[test]
fn a_path_that_climbs_out_reads_nothing_outside() {
    let tree = with(&[
        ("proc/self/cgroup", "0::/../../../secret"),
        ("sys/fs/cgroup/cpu.max", "max 100000"),
        ("secret/cpu.max", "100000 100000"),
        ("sys/fs/secret/cpu.max", "100000 100000"),
    ]);
    assert_eq!(tree.topology(0..8).quota(), None);
}

#[test]
fn the_innermost_cpuset_narrows_the_mask() {
    let files = [
        ("proc/self/cgroup", "0::/a"),
        ("sys/fs/cgroup/cpuset.cpus.effective", "0-7"),
        ("sys/fs/cgroup/a/cpuset.cpus.effective", "2,5-6"),
    ];
    let topology = read(&files);
    assert_eq!(topology.allowed(), ids([2, 5, 6]));
    assert_eq!(topology.shard_limit().get(), 2);
    let narrower = with(&files).topology([5, 7]);
    assert_eq!(narrower.allowed(), ids([5]));
}

#[test]
fn a_cpuset_of_version_1_narrows_the_mask() {
    let topology = read(&[
        ("proc/self/cgroup", "5:cpuset:/batch"),
        ("sys/fs/cgroup/cpuset/batch/cpuset.effective_cpus", "1,3"),
    ]);
    assert_eq!(topology.allowed(), ids([1, 3]));
}

#[test]
fn a_cpuset_that_leaves_nothing_of_the_mask_is_an_error() {
    let tree = with(&[("sys/fs/cgroup/cpuset.cpus.effective", "0-3")]);
    assert!(matches!(tree.read([6, 7]), Err(TopologyError::NoProcessor)));
}

#[test]
fn a_cpuset_counts_without_sys_devices_too() {
    let tree = Tree::empty();
    tree.write("sys/fs/cgroup/cpuset.cpus.effective", "1-2");
    assert_eq!(tree.topology(0..8).allowed(), ids([1, 2]));
}
