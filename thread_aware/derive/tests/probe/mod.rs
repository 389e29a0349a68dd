//! Values that write down when they were relocated.

use std::cell::RefCell;

use thread_aware::{
    ThreadAware,
    affinity::{Affinity, pinned_affinities},
};

thread_local! {
    static REACHED: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// Says its number when it is relocated.
pub(crate) struct Probe(pub(crate) u32);

impl ThreadAware for Probe {
    fn relocate(&mut self, _: Option<Affinity>, _: Affinity) {
        REACHED.with(|reached| reached.borrow_mut().push(self.0));
    }
}

/// Keeps from where to where it was relocated.
#[derive(Default)]
pub(crate) struct Places(pub(crate) Vec<(Option<Affinity>, Affinity)>);

impl ThreadAware for Places {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        self.0.push((source, destination));
    }
}

/// Relocates `value` and returns the numbers of the probes that this reached, in order.
pub(crate) fn reached<T: ThreadAware>(value: &mut T) -> Vec<u32> {
    let cores = pinned_affinities(&[2]);
    value.relocate(Some(cores[0]), cores[1]);
    REACHED.take()
}
