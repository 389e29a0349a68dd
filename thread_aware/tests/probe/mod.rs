//! A value that writes down when, and from where to where, it was relocated.

use std::{
    cmp::Ordering,
    hash::{Hash, Hasher},
    sync::{Arc, Mutex},
};

use thread_aware::{
    ThreadAware,
    affinity::{Affinity, pinned_affinities},
};

/// What happened, in order: who was relocated, from where, to where.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<Entry>>>);

type Entry = (u32, Option<Affinity>, Affinity);

/// Hashes and compares by its id alone.
#[derive(Clone)]
pub(crate) struct Probe {
    pub(crate) id: u32,
    log: Log,
}

impl Log {
    pub(crate) fn probe(&self, id: u32) -> Probe {
        Probe {
            id,
            log: self.clone(),
        }
    }

    pub(crate) fn probes<const N: usize>(&self) -> [Probe; N] {
        std::array::from_fn(|id| self.probe(u32::try_from(id).expect("tests use few")))
    }

    /// Relocates `value` without and then with a source, and returns the ids that were reached, in
    /// order, which must be the same both times.
    pub(crate) fn ids_reached<T: ThreadAware + ?Sized>(&self, value: &mut T) -> Vec<u32> {
        let [first, second] = self.both_reached(value);
        assert_eq!(first, second);
        first
    }

    /// As [`ids_reached`](Self::ids_reached), for collections without an order of their own.
    pub(crate) fn ids_reached_sorted<T: ThreadAware + ?Sized>(&self, value: &mut T) -> Vec<u32> {
        let [mut first, mut second] = self.both_reached(value);
        first.sort_unstable();
        second.sort_unstable();
        assert_eq!(first, second);
        first
    }

    fn both_reached<T: ThreadAware + ?Sized>(&self, value: &mut T) -> [Vec<u32>; 2] {
        let cores = pinned_affinities(&[2, 1]);
        [(None, cores[2]), (Some(cores[2]), cores[0])].map(|(from, to)| {
            value.relocate(from, to);
            let entries = std::mem::take(&mut *self.0.lock().expect("no probe panics"));
            assert!(
                entries.iter().all(|entry| (entry.1, entry.2) == (from, to)),
                "{entries:?}"
            );
            entries.iter().map(|entry| entry.0).collect()
        })
    }
}

impl ThreadAware for Probe {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        self.log
            .0
            .lock()
            .expect("no probe panics")
            .push((self.id, source, destination));
    }
}

impl PartialEq for Probe {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Probe {}

impl PartialOrd for Probe {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Probe {
    fn cmp(&self, other: &Self) -> Ordering {
        self.id.cmp(&other.id)
    }
}

impl Hash for Probe {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}
