//! What should come of each step, without sharing anything.

use std::collections::{BTreeMap, BTreeSet};

use thread_aware::{
    affinity::{Affinity, TopologyId},
    storage::Strategy,
};

/// A partition: its topology and index. `None` is where the first value's handles begin.
pub(crate) type Place = Option<(Option<TopologyId>, usize)>;

/// One lineage as it should be.
#[derive(Default)]
pub(crate) struct Lineage {
    /// Without one, a partition takes the value that arrives.
    pub(crate) makes: bool,
    /// The value of each partition, and the first one under `None`.
    pub(crate) values: BTreeMap<Place, u64>,
    /// Whether the first value has a partition.
    has_home: bool,
    /// The place of each handle, and how many storages there are.
    pub(crate) handles: Vec<Place>,
    pub(crate) storages: usize,
    pub(crate) ignored: u64,
}

impl Lineage {
    /// With a first value and one handle of it.
    pub(crate) fn with_first(value: u64) -> Self {
        Self {
            makes: true,
            values: BTreeMap::from([(None, value)]),
            handles: vec![None],
            ..Self::default()
        }
    }

    /// With one storage, and no value yet.
    pub(crate) fn of_storage() -> Self {
        Self {
            storages: 1,
            ..Self::default()
        }
    }

    pub(crate) fn is_alive(&self) -> bool {
        !self.handles.is_empty() || self.storages > 0
    }

    /// The values that are kept, each once.
    pub(crate) fn kept(&self) -> usize {
        let all: BTreeSet<u64> = self.values.values().copied().collect();
        if self.is_alive() { all.len() } else { 0 }
    }

    /// How many handles have the value of `place`.
    pub(crate) fn handles_of(&self, place: Place) -> usize {
        let value = self.values[&place];
        self.handles
            .iter()
            .filter(|handle| self.values[handle] == value)
            .count()
    }

    /// Where `affinity` belongs, or `None` when it belongs nowhere.
    pub(crate) fn place<S: Strategy>(&self, affinity: Affinity) -> Option<Place> {
        if is_single::<S>() {
            let first = self.values.contains_key(&None);
            return Some(if first { None } else { Some((None, 0)) });
        }
        let topology = Some(affinity.topology());
        (!affinity.is_anonymous()).then(|| Some((topology, S::index(affinity))))
    }

    /// Where a handle at `from` is after it was relocated; a value that has to be made is `next`.
    pub(crate) fn relocate<S: Strategy>(
        &mut self,
        from: Place,
        source: Option<Affinity>,
        destination: Affinity,
        next: &mut u64,
    ) -> Place {
        let Some(target) = self.place::<S>(destination) else {
            self.ignored += 1;
            return from;
        };
        if from.is_none() && !self.values.contains_key(&target) {
            let is_only = S::count(destination).get() == 1;
            let source = source.or(is_only.then_some(destination));
            let home = source.and_then(|source| self.place::<S>(source));
            if let Some(home) = home
                && !self.has_home
                && !self.values.contains_key(&home)
            {
                self.has_home = true;
                self.values.insert(home, self.values[&None]);
            }
        }
        if !self.values.contains_key(&target) {
            let carried = self.values[&from];
            let value = if self.makes { *next } else { carried };
            *next += u64::from(self.makes);
            self.values.insert(target, value);
        }
        target
    }
}

fn is_single<S: Strategy>() -> bool {
    let cores = thread_aware::affinity::pinned_affinities(&[2, 2]);
    cores.iter().all(|&core| S::count(core).get() == 1)
}
