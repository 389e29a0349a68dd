//! A value that counts its relocations, and the places to relocate it to.

use thread_aware::{
    ThreadAware,
    affinity::{Affinity, pinned_affinities},
};

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Probe(pub(crate) u32);

impl ThreadAware for Probe {
    fn relocate(&mut self, _source: Option<Affinity>, _destination: Affinity) {
        self.0 += 1;
    }
}

pub(crate) fn places() -> [Affinity; 2] {
    let all = pinned_affinities(&[1, 1]);
    [all[0], all[1]]
}

/// Relocates once without and once with a source.
pub(crate) fn twice<T: ThreadAware + ?Sized>(value: &mut T) {
    let [first, second] = places();
    value.relocate(None, first);
    value.relocate(Some(first), second);
}
