//! A tree of handles, as a service that holds services is: relocating it relocates them all.

use std::hint::black_box;

use super::{Identity, Relocating, visited};
use crate::{BenchError, Meter, Params, Sample, pin};

const LEVELS: u32 = 5;
const BRANCHES: u32 = 2;

/// A handle, and the trees below it.
struct Tree<H> {
    handle: H,
    branches: Vec<Self>,
}

impl<H: Relocating> Tree<H> {
    /// A tree whose handles are of a lineage each, and were at all `places`.
    fn grown(levels: u32, places: &[H::Place]) -> Self {
        let branches = if levels > 1 { BRANCHES } else { 0 };
        Self {
            handle: visited(places),
            branches: (0..branches)
                .map(|_| Self::grown(levels - 1, places))
                .collect(),
        }
    }

    /// As a derived implementation does it.
    fn relocate(&mut self, source: &H::Place, destination: &H::Place) {
        self.handle.relocate(source, destination);
        for branch in &mut self.branches {
            branch.relocate(source, destination);
        }
    }

    /// The values of all handles, from the root on.
    fn identities(&self) -> Vec<Identity> {
        let below = self.branches.iter().flat_map(Self::identities);
        [Identity::of(&self.handle)]
            .into_iter()
            .chain(below)
            .collect()
    }
}

/// An operation: a tree of five levels, 31 handles, is relocated to a place that has its values.
pub(super) fn hit<H: Relocating>(params: &Params) -> Result<Sample, BenchError> {
    pin(params.cores.first)?;
    let places = H::places(2);
    let mut tree = Tree::<H>::grown(LEVELS, &places);
    let here = tree.identities();
    tree.relocate(&places[0], &places[1]);
    let there = tree.identities();
    tree.relocate(&places[1], &places[0]);
    let kept = here
        .iter()
        .zip(&there)
        .filter(|(here, there)| here == there);
    BenchError::check("handles that found no other value", 0, kept.count() as u64)?;
    let meter = Meter::start();
    let [mut from, mut to] = [&places[0], &places[1]];
    for _ in 0..params.ops {
        black_box(&mut tree).relocate(from, to);
        std::mem::swap(&mut from, &mut to);
    }
    let spent = meter.stop(params.ops);
    let expected = if params.ops.is_multiple_of(2) {
        here
    } else {
        there
    };
    let found = tree.identities();
    let right = expected
        .iter()
        .zip(&found)
        .filter(|(one, other)| one == other);
    BenchError::check("handles with the place's value", 31, right.count() as u64)?;
    Ok(spent.wall_sample())
}
