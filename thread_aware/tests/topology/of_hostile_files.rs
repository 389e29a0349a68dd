//! Files that do not hold what the kernel writes: a typed error that names the file, never a panic.

use std::{error::Error, fs, path::Path};

use super::tree::{Tree, four_by_two};
use proptest::{prelude::*, test_runner::TestRunner};
use thread_aware::topology::{Fault, ProcessorId, Topology, TopologyError};

/// Every kind of file that is read.
const FILES: [&str; 13] = [
    "proc/self/cgroup",
    "sys/devices/system/cpu/online",
    "sys/devices/system/cpu/cpu2/topology/core_cpus_list",
    "sys/devices/system/cpu/cpu2/topology/physical_package_id",
    "sys/devices/system/cpu/cpu2/cache/index0/level",
    "sys/devices/system/cpu/cpu2/cache/index1/shared_cpu_list",
    "sys/devices/system/node/online",
    "sys/devices/system/node/node0/cpulist",
    "sys/fs/cgroup/cpu.max",
    "sys/fs/cgroup/cpuset.cpus.effective",
    "sys/fs/cgroup/cpu/cpu.cfs_quota_us",
    "sys/fs/cgroup/cpu/cpu.cfs_period_us",
    "sys/fs/cgroup/cpuset/cpuset.effective_cpus",
];

/// Four cores of two processors, with every kind of file.
fn tree() -> Tree {
    let tree = Tree::of(&four_by_two());
    tree.write("proc/self/cgroup", "1:cpu:/\n0::/");
    tree.write("sys/fs/cgroup/cpu.max", "max 100000");
    tree.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
    tree.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
    tree
}

/// The file that an error names, if it is one about a file.
fn named(error: &TopologyError) -> Option<&Path> {
    match error {
        TopologyError::Unreadable { path, .. }
        | TopologyError::Malformed { path, .. }
        | TopologyError::Contradiction { path, .. } => Some(path),
        _ => None,
    }
}

/// Reads the tree with `content` in `file` for this once.
fn read_with(
    tree: &Tree,
    file: &str,
    content: impl AsRef<[u8]>,
) -> Result<Topology, TopologyError> {
    let path = tree.root().join(file);
    let before = fs::read(&path).ok();
    tree.write(file, content);
    let result = tree.read(0..8);
    match before {
        Some(before) => fs::write(path, before).expect("it was just written"),
        None => tree.remove(file),
    }
    result
}

/// The fault that is found in `file` when it holds `content`.
fn fault(tree: &Tree, file: &str, content: impl AsRef<[u8]>) -> Option<Fault> {
    match read_with(tree, file, content) {
        Err(TopologyError::Malformed { path, fault }) => {
            assert_eq!(path, tree.root().join(file));
            Some(fault)
        }
        Err(error) => panic!("{file}: {error:?}"),
        Ok(_) => None,
    }
}

#[test]
fn the_tree_itself_is_read_without_error() {
    assert_eq!(tree().topology(0..8).physical_cores().len(), 4);
}

#[test]
fn garbage_in_any_file_is_named_with_its_file() {
    let tree = tree();
    for file in FILES {
        assert_eq!(
            fault(&tree, file, b"\xff\xfe\x00\x80"),
            Some(Fault::NotText),
            "{file}"
        );
        assert!(
            matches!(
                fault(&tree, file, "garbage"),
                Some(Fault::NotANumber | Fault::NotALine)
            ),
            "{file}"
        );
        assert_eq!(
            fault(&tree, file, vec![b'1'; 1 << 20]),
            Some(Fault::TooLong),
            "{file}"
        );
    }
}

#[test]
fn an_empty_file_is_named_unless_it_may_be_empty() {
    let tree = tree();
    for file in FILES {
        let may_be_empty = file.starts_with("proc/") || file.contains("/node/");
        let expected = if may_be_empty {
            None
        } else {
            Some(Fault::Empty)
        };
        assert_eq!(fault(&tree, file, ""), expected, "{file}");
    }
}

#[test]
fn lists_must_ascend_and_stay_in_range() {
    let tree = tree();
    for file in FILES
        .into_iter()
        .filter(|file| file.contains("list") || file.contains("online"))
    {
        for (content, expected) in [
            ("3-1", Fault::OutOfOrder),
            ("0,0", Fault::OutOfOrder),
            ("0-7,2", Fault::OutOfOrder),
            ("0-4294967295", Fault::OutOfRange),
            ("0-99999999999999999999", Fault::NotANumber),
            ("0-", Fault::Empty),
            (",", Fault::Empty),
            ("0,,1", Fault::Empty),
            ("-1", Fault::Empty),
            ("0 - 7", Fault::NotANumber),
            ("0-7:2/4", Fault::NotANumber),
        ] {
            assert_eq!(
                fault(&tree, file, content),
                Some(expected),
                "{file}: {content:?}"
            );
        }
    }
}

#[test]
fn quotas_out_of_range_are_named() {
    let tree = tree();
    let max = "sys/fs/cgroup/cpu.max";
    assert_eq!(fault(&tree, max, "max 0"), Some(Fault::OutOfRange));
    assert_eq!(fault(&tree, max, "1000 0"), Some(Fault::OutOfRange));
    assert_eq!(fault(&tree, max, "1000"), Some(Fault::NotALine));
    assert_eq!(fault(&tree, max, "-5 1000"), Some(Fault::NotANumber));
    assert_eq!(fault(&tree, max, "nan 1000"), Some(Fault::NotANumber));
    let quota = "sys/fs/cgroup/cpu/cpu.cfs_quota_us";
    assert_eq!(fault(&tree, quota, "-2"), Some(Fault::OutOfRange));
    assert_eq!(
        fault(&tree, "sys/fs/cgroup/cpu/cpu.cfs_period_us", "0"),
        Some(Fault::OutOfRange)
    );
    let socket = "sys/devices/system/cpu/cpu2/topology/physical_package_id";
    assert_eq!(fault(&tree, socket, "-2"), Some(Fault::OutOfRange));
}

#[test]
fn files_that_contradict_each_other_name_the_file_and_the_processor() {
    let tree = tree();
    let topology = "sys/devices/system/cpu/cpu6/topology/core_cpus_list";
    let cache = "sys/devices/system/cpu/cpu6/cache/index1/shared_cpu_list";
    for (file, content) in [
        (topology, "2,7"),   // it does not know itself
        (topology, "6"),     // its sibling 2 claims it
        (topology, "3,6"),   // and so does 3, which says otherwise
        (topology, "2,6-7"), // it has one sibling more than its sibling says
        (cache, "0-5,7"),    // it does not share its own cache
    ] {
        match read_with(&tree, file, content) {
            Err(TopologyError::Contradiction { path, processor }) => {
                assert_eq!(path, tree.root().join(file), "{content}");
                assert_eq!(processor, ProcessorId::new(6), "{content}");
            }
            other => panic!("{file} with {content}: {other:?}"),
        }
    }
}

#[test]
fn a_processor_in_two_nodes_is_a_contradiction() {
    let tree = tree();
    tree.write("sys/devices/system/node/online", "0-1");
    tree.write("sys/devices/system/node/node1/cpulist", "3");
    let error = tree.read(0..8).expect_err("processor 3 is in both");
    assert!(
        named(&error).is_some_and(|path| path.ends_with("node1/cpulist")),
        "{error:?}"
    );
}

#[test]
fn a_directory_in_the_place_of_a_file_is_unreadable() {
    for file in FILES {
        let tree = tree();
        if tree.root().join(file).exists() {
            tree.remove(file);
        }
        tree.write(&format!("{file}/inside"), "");
        let error = tree.read(0..8).expect_err("a directory cannot be read");
        assert!(
            matches!(error, TopologyError::Unreadable { .. }),
            "{error:?}"
        );
        assert_eq!(named(&error), Some(&*tree.root().join(file)));
        assert!(error.source().is_some(), "what the system said is kept");
        assert!(error.to_string().contains(file), "{error}");
    }
}

#[test]
fn any_bytes_in_any_file_give_a_topology_or_an_error_of_a_file() {
    let tree = tree();
    let contents = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        "[0-9,:/ a\n-]{0,40}".prop_map(String::into_bytes),
    ];
    let cases = (prop::sample::select(FILES.to_vec()), contents);
    let outcome = TestRunner::default().run(&cases, |(file, content)| {
        match read_with(&tree, file, &content) {
            Ok(topology) => prop_assert!(!topology.physical_cores().is_empty()),
            Err(TopologyError::NoProcessor) => {}
            Err(error) => prop_assert!(named(&error).is_some(), "{error:?}"),
        }
        Ok(())
    });
    assert!(outcome.is_ok(), "{outcome:?}");
}
