//! Maps, sets and heaps: drained, relocated element by element, and rebuilt, since a relocation
//! may change how an element hashes or compares.

use alloc::{
    collections::{BTreeMap, BTreeSet, BinaryHeap},
    vec::Vec,
};
#[cfg(feature = "std")]
use core::hash::{BuildHasher, Hash};
use core::mem;
#[cfg(feature = "std")]
use std::collections::{HashMap, HashSet};

use crate::{ThreadAware, affinity::Affinity};

/// The elements of a collection while they are outside of it.
///
/// Dropping it puts them back, also when a relocation panics, so that none is ever lost.
struct Outside<'a, C: Extend<T>, T> {
    collection: &'a mut C,
    elements: Vec<T>,
}

impl<C: Extend<T>, T: ThreadAware> Outside<'_, C, T> {
    fn relocate(mut self, source: Option<Affinity>, destination: Affinity) {
        self.elements.relocate(source, destination);
    }
}

impl<C: Extend<T>, T> Drop for Outside<'_, C, T> {
    fn drop(&mut self) {
        self.collection.extend(self.elements.drain(..));
    }
}

impl<K: ThreadAware + Ord, V: ThreadAware> ThreadAware for BTreeMap<K, V> {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        let elements = mem::take(self).into_iter().collect();
        Outside {
            collection: self,
            elements,
        }
        .relocate(source, destination);
    }
}

impl<T: ThreadAware + Ord> ThreadAware for BTreeSet<T> {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        let elements = mem::take(self).into_iter().collect();
        Outside {
            collection: self,
            elements,
        }
        .relocate(source, destination);
    }
}

/// The order among the elements is that of the heap's storage.
impl<T: ThreadAware + Ord> ThreadAware for BinaryHeap<T> {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        let elements = mem::take(self).into_vec();
        Outside {
            collection: self,
            elements,
        }
        .relocate(source, destination);
    }
}

/// The hasher stays as it is.
#[cfg(feature = "std")]
impl<K, V, S> ThreadAware for HashMap<K, V, S>
where
    K: ThreadAware + Eq + Hash,
    V: ThreadAware,
    S: BuildHasher + Send,
{
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        let elements = self.drain().collect();
        Outside {
            collection: self,
            elements,
        }
        .relocate(source, destination);
    }
}

/// The hasher stays as it is.
#[cfg(feature = "std")]
impl<T, S> ThreadAware for HashSet<T, S>
where
    T: ThreadAware + Eq + Hash,
    S: BuildHasher + Send,
{
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        let elements = self.drain().collect();
        Outside {
            collection: self,
            elements,
        }
        .relocate(source, destination);
    }
}
