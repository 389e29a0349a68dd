//! Plans for machines whose files are written for the test.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use thread_aware::affinity::pinned_affinities;
use thread_aware::topology::{ProcessorId, Source, Topology};

use super::super::running::{self, Running};
use super::{Plan, Seat, plan};
use crate::error::StartError;
use crate::settings::{Driver, IdlePolicy, Placement, Settings};

/// The files of a machine in the place of `/`, removed when dropped.
struct Machine(PathBuf);

impl Machine {
    /// A machine of these cores, each a node and its processors.
    fn of(cores: &[(u32, &[u32])]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("corelane-machine-{}-{number}", std::process::id());
        let machine = Self(std::env::temp_dir().join(name));
        let mut nodes: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &(node, processors) in cores {
            nodes.entry(node).or_default().extend(processors);
            for processor in processors {
                let path = format!("sys/devices/system/cpu/cpu{processor}/topology/core_cpus_list");
                machine.write(&path, &list(processors));
            }
        }
        let all: Vec<_> = nodes.values().flatten().copied().collect();
        machine.write("sys/devices/system/cpu/online", &list(&all));
        let numbers: Vec<_> = nodes.keys().copied().collect();
        machine.write("sys/devices/system/node/online", &list(&numbers));
        for (node, processors) in nodes {
            let path = format!("sys/devices/system/node/node{node}/cpulist");
            machine.write(&path, &list(&processors));
        }
        machine
    }

    /// Four cores of two processors each, as Linux numbers them, two cores a node.
    fn four_by_two() -> Self {
        Self::of(&[(0, &[0, 4]), (0, &[1, 5]), (1, &[2, 6]), (1, &[3, 7])])
    }

    fn quota(self, quota: &str) -> Self {
        self.write("sys/fs/cgroup/cpu.max", quota);
        self
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().expect("it is below the root")).unwrap();
        fs::write(path, format!("{content}\n")).unwrap();
    }

    fn topology(&self, mask: impl IntoIterator<Item = u32>) -> Topology {
        let mask = mask.into_iter().map(ProcessorId::new);
        Topology::read(&Source::recorded(&self.0, mask)).unwrap()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).expect("the test made it");
    }
}

fn list(numbers: &[u32]) -> String {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    let numbers: Vec<_> = numbers.iter().map(u32::to_string).collect();
    numbers.join(",")
}

/// The processors of the seats, and what the shards do when they are idle.
fn planned(
    topology: &Topology,
    placement: Placement,
    shards: Option<usize>,
) -> Result<(Vec<Option<u32>>, IdlePolicy), StartError> {
    let shards = shards.map(|count| NonZero::new(count).unwrap());
    let plan = plan(topology, &placement, shards, IdlePolicy::Spin)?;
    // Each shard has an affinity of its own, whose place is the shard's.
    let places: Vec<_> = plan
        .seats
        .iter()
        .map(|seat| seat.affinity.processor_index())
        .collect();
    assert_eq!(places, (0..plan.seats.len()).collect::<Vec<_>>());
    let processors = plan.seats.iter().map(|seat| seat.processor);
    let numbers = processors.map(|processor| processor.map(ProcessorId::number));
    Ok((numbers.collect(), plan.idle))
}

#[track_caller]
fn assert_planned(topology: &Topology, placement: Placement, processors: &[u32]) {
    let (seated, idle) = planned(topology, placement, None).unwrap();
    let wanted: Vec<_> = processors.iter().copied().map(Some).collect();
    assert_eq!(seated, wanted);
    assert_eq!(idle, IdlePolicy::Spin);
}

// proves: RT-1
#[test]
fn each_physical_core_of_the_mask_gets_one_shard() {
    let machine = Machine::four_by_two();
    let placement = Placement::PhysicalCores;
    assert_planned(&machine.topology(0..8), placement.clone(), &[0, 1, 2, 3]);
    // A scattered mask: a sibling stands for its core, and two of one core are one shard.
    assert_planned(&machine.topology([1, 6]), placement.clone(), &[1, 6]);
    assert_planned(&machine.topology([3, 5, 7]), placement.clone(), &[3, 5]);
    let one = Machine::of(&[(0, &[0])]);
    assert_planned(&one.topology([0]), placement, &[0]);
}

// proves: RT-1
#[test]
fn cpuset_bounds_the_shards() {
    let machine = Machine::four_by_two();
    machine.write("sys/fs/cgroup/cpuset.cpus.effective", "1-2,5-6");
    assert_planned(&machine.topology(0..8), Placement::PhysicalCores, &[1, 2]);
    assert_planned(
        &machine.topology(0..8),
        Placement::LogicalCores,
        &[1, 2, 5, 6],
    );
}

// proves: RT-1
#[test]
fn quota_bounds_the_shards_rounded_down_to_at_least_one() {
    for (quota, processors) in [
        ("10000 100000", &[0][..]),
        ("150000 100000", &[0]),
        ("200000 100000", &[0, 1]),
        ("399999 100000", &[0, 1, 2]),
        ("900000 100000", &[0, 1, 2, 3]),
        ("max 100000", &[0, 1, 2, 3]),
    ] {
        let machine = Machine::four_by_two().quota(quota);
        let topology = machine.topology(0..8);
        assert_planned(&topology, Placement::PhysicalCores, processors);
    }
    let machine = Machine::four_by_two().quota("600000 100000");
    let six = [0, 1, 2, 3, 4, 5];
    assert_planned(&machine.topology(0..8), Placement::LogicalCores, &six);
}

// proves: RT-1
#[test]
fn placement_names_the_processors() {
    let machine = Machine::four_by_two();
    let topology = machine.topology(0..8);
    let all = [0, 1, 2, 3, 4, 5, 6, 7];
    assert_planned(&topology, Placement::LogicalCores, &all);
    assert_planned(&topology, Placement::Numa(1), &[2, 3]);
    assert_planned(&topology, Placement::Cores(vec![7, 0]), &[7, 0]);
    let (seated, idle) = planned(&topology, Placement::Unpinned(3), None).unwrap();
    assert_eq!((&seated[..], idle), (&[None; 3][..], IdlePolicy::Spin));
}

// proves: RT-1
#[test]
fn more_shards_than_cores_are_seated_round_robin_and_park() {
    let machine = Machine::four_by_two();
    let topology = machine.topology([0, 1, 4, 5]);
    for (placement, limit) in [
        (Placement::PhysicalCores, &[0, 1][..]),
        (Placement::LogicalCores, &[0, 1, 4, 5]),
        (Placement::Cores(vec![5]), &[5]),
    ] {
        for count in 1..=9 {
            let (seated, idle) = planned(&topology, placement.clone(), Some(count)).unwrap();
            let wanted = limit.iter().copied().map(Some).cycle().take(count);
            assert_eq!(seated, wanted.collect::<Vec<_>>());
            let fits = count <= limit.len();
            assert_eq!(idle == IdlePolicy::Spin, fits, "{count} shards");
            assert_eq!(idle == IdlePolicy::Park, !fits, "{count} shards");
        }
    }
    let (_, idle) = planned(&topology, Placement::Unpinned(3), None).unwrap();
    assert_eq!(idle, IdlePolicy::Park);
    let spin = IdlePolicy::SpinThenPark(Duration::from_micros(1));
    let crowded = plan(&topology, &Placement::PhysicalCores, NonZero::new(3), spin).unwrap();
    assert_eq!(crowded.idle, IdlePolicy::Park);
}

// proves: RT-1
#[test]
fn placement_without_an_allowed_processor_is_an_error() {
    let machine = Machine::four_by_two();
    let topology = machine.topology([0, 1]);
    let error = |placement| planned(&topology, placement, None).unwrap_err();
    assert!(matches!(error(Placement::Numa(1)), StartError::NoProcessor));
    assert!(matches!(error(Placement::Numa(9)), StartError::NoProcessor));
    assert!(matches!(
        error(Placement::Cores(vec![])),
        StartError::NoProcessor
    ));
    assert!(matches!(
        error(Placement::Unpinned(0)),
        StartError::NoShards
    ));
    // 2 is there, but not allowed; 99 is not there.
    for processor in [2, 99] {
        let refused = error(Placement::Cores(vec![0, processor]));
        assert!(matches!(refused, StartError::Topology(_)), "{refused:?}");
    }
    let no_id = 1 << 40;
    let refused = error(Placement::Cores(vec![0, no_id]));
    assert!(matches!(refused, StartError::Processor(number) if number == no_id));
    let many = planned(&topology, Placement::PhysicalCores, Some(4_097)).unwrap_err();
    assert!(matches!(many, StartError::TooManyShards(_)));
}

// proves: RT-1
#[test]
fn pinning_that_the_kernel_refuses_is_an_error_and_ends_every_thread() {
    // The topology would have refused the processor; here the kernel has to. Where the refused one
    // is decides which thread finds it: the caller's, the first other one, or the last.
    for refused in 0..3 {
        let seats = || {
            let affinities = pinned_affinities(&[3]).into_iter().enumerate();
            let seat = |(shard, affinity)| Seat {
                processor: (shard == refused).then_some(ProcessorId::new(1_000)),
                affinity,
            };
            Plan {
                seats: affinities.map(seat).collect(),
                idle: IdlePolicy::Park,
            }
        };
        let settings = Settings {
            driver: Driver::Epoll,
            ..Settings::default()
        };
        let ran = running::run(seats(), settings.clone(), async || ());
        assert!(matches!(ran, Err(StartError::Pin(_))), "{ran:?}");
        let started = Running::start(seats(), settings);
        assert!(matches!(started, Err(StartError::Pin(_))), "{started:?}");
    }
}
