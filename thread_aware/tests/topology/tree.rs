//! Writes the files that a kernel shows of a machine, from a short description of it.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering},
};

use thread_aware::topology::{ProcessorId, Source, Topology, TopologyError};

/// A directory in the place of `/`, removed when it is dropped.
pub(crate) struct Tree {
    root: PathBuf,
}

/// One physical core of a description.
#[derive(Clone)]
pub(crate) struct CoreOf {
    pub(crate) processors: Vec<u32>,
    pub(crate) node: u32,
    pub(crate) socket: u32,
    /// A number that cores with a common third-level cache share.
    pub(crate) l3: u32,
}

/// A core on node, socket and cache 0.
pub(crate) fn core(processors: &[u32]) -> CoreOf {
    CoreOf {
        processors: processors.into(),
        node: 0,
        socket: 0,
        l3: 0,
    }
}

/// Four cores of two processors each, numbered as Linux does: all cores first, then siblings.
pub(crate) fn four_by_two() -> Vec<CoreOf> {
    (0..4).map(|n| core(&[n, n + 4])).collect()
}

/// Two sockets of 32 cores of two processors each; two nodes a socket, four caches a node.
pub(crate) fn two_sockets() -> Vec<CoreOf> {
    (0..64)
        .map(|n| CoreOf {
            processors: vec![n, n + 64],
            node: n / 16,
            socket: n / 32,
            l3: n / 4,
        })
        .collect()
}

pub(crate) fn ids(numbers: impl IntoIterator<Item = u32>) -> Vec<ProcessorId> {
    numbers.into_iter().map(ProcessorId::new).collect()
}

const CPU: &str = "sys/devices/system/cpu";
const NODE: &str = "sys/devices/system/node";

impl Tree {
    /// A root without any file.
    pub(crate) fn empty() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // Hundreds of small files: in memory they are made in a hundredth of the time.
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() {
            memory.into()
        } else {
            std::env::temp_dir()
        };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let root = parent.join(format!("thread-aware-tree-{}-{number}", process::id()));
        // One that a killed run left behind is of no use: its process number is ours now.
        if root.is_dir() {
            fs::remove_dir_all(&root).expect("nobody else uses it");
        }
        fs::create_dir(&root).expect("the temporary directory can be written");
        Self { root }
    }

    /// A root with the files of a machine: those that this crate reads, and those for libhwloc.
    pub(crate) fn of(cores: &[CoreOf]) -> Self {
        let tree = Self::empty();
        let sharing = |same: &dyn Fn(&CoreOf) -> bool| {
            let cores = cores.iter().filter(|core| same(core));
            cores
                .flat_map(|core| &core.processors)
                .copied()
                .collect::<Vec<u32>>()
        };
        let all = sharing(&|_| true);
        for file in ["online", "possible", "present"] {
            tree.write(&format!("{CPU}/{file}"), list(&all));
        }
        for (id, core) in cores.iter().enumerate() {
            let socket = sharing(&|other| other.socket == core.socket);
            let l3 = sharing(&|other| other.l3 == core.l3);
            for processor in &core.processors {
                let write = |file: &str, content: &str| {
                    tree.write(&format!("{CPU}/cpu{processor}/{file}"), content);
                };
                write("topology/core_cpus_list", &list(&core.processors));
                write("topology/core_cpus", &mask(&core.processors));
                write("topology/core_id", &id.to_string());
                write("topology/physical_package_id", &core.socket.to_string());
                write("topology/package_cpus", &mask(&socket));
                for (index, level, kind, shared) in
                    [(0, "1", "Data", &core.processors), (1, "3", "Unified", &l3)]
                {
                    let write = |file: &str, content: &str| {
                        write(&format!("cache/index{index}/{file}"), content);
                    };
                    write("level", level);
                    write("type", kind);
                    write("size", "32K");
                    write("shared_cpu_list", &list(shared));
                    write("shared_cpu_map", &mask(shared));
                }
            }
        }
        let nodes: BTreeSet<u32> = cores.iter().map(|core| core.node).collect();
        tree.write(&format!("{NODE}/online"), list(&nodes));
        for &node in &nodes {
            let processors = sharing(&|other| other.node == node);
            tree.write(&format!("{NODE}/node{node}/cpulist"), list(&processors));
            tree.write(&format!("{NODE}/node{node}/cpumap"), mask(&processors));
            let memory = format!("Node {node} MemTotal: 1048576 kB");
            tree.write(&format!("{NODE}/node{node}/meminfo"), memory);
        }
        tree
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        let mut bytes = content.as_ref().to_vec();
        bytes.push(b'\n');
        if fs::write(&path, &bytes).is_err() {
            let directory = path.parent().expect("it is below the root");
            fs::create_dir_all(directory).expect("the root can be written");
            fs::write(path, bytes).expect("its directory was just made");
        }
    }

    /// Removes a file or a whole directory.
    pub(crate) fn remove(&self, path: &str) {
        let path = self.root.join(path);
        let removed = if path.is_dir() {
            fs::remove_dir_all(path)
        } else {
            fs::remove_file(path)
        };
        removed.expect("it is there");
    }

    /// Reads the topology of a process with the affinity mask `mask`.
    pub(crate) fn read(
        &self,
        mask: impl IntoIterator<Item = u32>,
    ) -> Result<Topology, TopologyError> {
        Topology::read(&Source::recorded(&self.root, ids(mask)))
    }

    /// As [`read`](Self::read), of a tree in which nothing is wrong.
    pub(crate) fn topology(&self, mask: impl IntoIterator<Item = u32>) -> Topology {
        self.read(mask).expect("nothing is wrong with the tree")
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.root).expect("the test made it");
    }
}

/// The kernel's way to write a list: `0-3,8`.
fn list<'a>(numbers: impl IntoIterator<Item = &'a u32>) -> String {
    let mut numbers: Vec<u32> = numbers.into_iter().copied().collect();
    numbers.sort_unstable();
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let runs: Vec<String> = runs
        .iter()
        .map(|(first, last)| {
            if first == last {
                first.to_string()
            } else {
                format!("{first}-{last}")
            }
        })
        .collect();
    runs.join(",")
}

/// The kernel's way to write a set: `00000001,0000000f`.
fn mask(numbers: &[u32]) -> String {
    let last = numbers.iter().max().copied().unwrap_or(0);
    let words = (0..=last / 32).rev().map(|word| {
        let bits = numbers.iter().filter(|&number| number / 32 == word);
        format!(
            "{:08x}",
            bits.fold(0_u32, |set, number| set | 1 << (number % 32))
        )
    });
    words.collect::<Vec<_>>().join(",")
}
