//! What control groups grant (kernel documentation: "Control Group v2", interface files of the
//! controllers `cpu` and `cpuset`; "CFS Bandwidth Control" for version 1).
//!
//! A group's own limit and those of all groups above it hold at once. Inside a container the path
//! in `proc/self/cgroup` may be the host's, of which nothing is visible: the walk up from it then
//! ends at the mount, which is the container's own group.

use std::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{
    error::{Fault, TopologyError},
    files::Text,
    ids::ProcessorId,
    source::Source,
};

/// Where the unified hierarchy is mounted, alone or beside version 1.
const UNIFIED: [&str; 2] = ["sys/fs/cgroup", "sys/fs/cgroup/unified"];
/// Where the `cpu` controller of version 1 is mounted; some systems mount it with another one.
const CPU: [&str; 3] = [
    "sys/fs/cgroup/cpu",
    "sys/fs/cgroup/cpu,cpuacct",
    "sys/fs/cgroup/cpuacct,cpu",
];
const CPUSET: [&str; 1] = ["sys/fs/cgroup/cpuset"];

/// The groups that this process is in.
pub(super) struct Groups<'a> {
    source: &'a Source,
    /// A line each: the controllers (none for the unified hierarchy) and the path.
    memberships: Vec<(String, String)>,
}

impl<'a> Groups<'a> {
    pub(super) fn read(source: &'a Source) -> Result<Self, TopologyError> {
        let mut memberships = Vec::new();
        if let Some(text) = source.read("proc/self/cgroup")? {
            for line in text.lines() {
                let mut fields = line.splitn(3, ':').skip(1);
                let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
                    return Err(text.malformed(Fault::NotALine));
                };
                memberships.push((controllers.to_string(), path.to_string()));
            }
        }
        Ok(Self {
            source,
            memberships,
        })
    }

    /// How many processors' time the process may use, or `None` without a limit.
    pub(super) fn quota(&self) -> Result<Option<f64>, TopologyError> {
        let mut least: Option<f64> = None;
        let mut limit = |quota: Option<f64>| {
            least = match (least, quota) {
                (Some(least), Some(quota)) => Some(least.min(quota)),
                (least, quota) => least.or(quota),
            };
        };
        for directory in self.directories(&UNIFIED, "") {
            if let Some(text) = self.source.read(&format!("{directory}/cpu.max"))? {
                limit(quota_of_max(&text)?);
            }
        }
        for directory in self.directories(&CPU, "cpu") {
            let quota = self.source.read(&format!("{directory}/cpu.cfs_quota_us"))?;
            let period = self
                .source
                .read(&format!("{directory}/cpu.cfs_period_us"))?;
            if let (Some(quota), Some(period)) = (quota, period) {
                limit(quota_of_cfs(&quota, &period)?);
            }
        }
        Ok(least)
    }

    /// The processors that the cpuset leaves, or `None` without one.
    pub(super) fn cpuset(&self) -> Result<Option<Vec<ProcessorId>>, TopologyError> {
        let unified = self
            .directories(&UNIFIED, "")
            .map(|d| format!("{d}/cpuset.cpus.effective"));
        let version_1 = self.directories(&CPUSET, "cpuset");
        let version_1 = version_1.map(|d| format!("{d}/cpuset.effective_cpus"));
        // What is effective in a group is within what is above it, so the innermost file counts.
        for path in unified.chain(version_1) {
            if let Some(text) = self.source.read(&path)? {
                return text.processors().map(Some);
            }
        }
        Ok(None)
    }

    /// The directories of the group with `controller`, innermost first, below each mount point.
    fn directories(&self, mounts: &'a [&str], controller: &str) -> impl Iterator<Item = String> {
        let member = self
            .memberships
            .iter()
            .find(|(controllers, _)| controllers.split(',').any(|name| name == controller));
        let mut names: Vec<&str> = member
            .map(|(_, path)| path.split('/').filter(|name| !name.is_empty()).collect())
            .unwrap_or_default();
        if names.contains(&"..") {
            // The group lies outside of what this process can see: only the mount is left.
            names.clear();
        }
        mounts.iter().flat_map(move |mount| {
            let names = names.clone();
            (0..=names.len()).rev().map(move |depth| {
                let mut directory = String::from(*mount);
                for name in &names[..depth] {
                    directory.push('/');
                    directory.push_str(name);
                }
                directory
            })
        })
    }
}

/// `max 100000` or `150000 100000`: microseconds of processor time, and of the period.
fn quota_of_max(text: &Text) -> Result<Option<f64>, TopologyError> {
    let mut words = text.words();
    let Some(quota) = words.next() else {
        return Err(text.malformed(Fault::Empty));
    };
    let period = words
        .next()
        .ok_or_else(|| text.malformed(Fault::NotALine))?;
    let period = nonzero(text, text.parse(period)?)?;
    if quota == "max" {
        return Ok(None);
    }
    Ok(Some(f64::from(text.parse::<u32>(quota)?) / period))
}

/// A quota of -1 is none.
fn quota_of_cfs(quota: &Text, period: &Text) -> Result<Option<f64>, TopologyError> {
    let period = nonzero(period, period.number()?)?;
    match quota.number::<i64>()? {
        -1 => Ok(None),
        number => match u32::try_from(number) {
            Ok(number) => Ok(Some(f64::from(number) / period)),
            Err(_) => Err(quota.malformed(Fault::OutOfRange)),
        },
    }
}

fn nonzero(text: &Text, period: u32) -> Result<f64, TopologyError> {
    if period == 0 {
        return Err(text.malformed(Fault::OutOfRange));
    }
    Ok(f64::from(period))
}
