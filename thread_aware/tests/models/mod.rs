//! The models, shared by `loom_arc.rs`, which runs them as they stand, and by `loom_mutants.rs`,
//! which runs them with one ordering weakened.
//!
//! A missing happens-before ends as loom's causality panic, a wait for ever as its deadlock panic.

pub(crate) mod life;
pub(crate) mod making;

use std::sync::{
    Arc as StdArc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use thread_aware::{
    Arc, PerCore, ThreadAware,
    affinity::{Affinity, pinned_affinities},
};

/// How often the explored schedules take a running thread off its core.
const PREEMPTIONS_MAX: usize = 3;

/// Name and model, in the order in which mutants meet them.
pub(crate) fn all() -> impl Iterator<Item = &'static (&'static str, fn())> {
    making::MODELS.iter().chain(life::MODELS)
}

/// Explores `model`. Nothing outside it bounds the search, so a model has few steps and no open
/// loop.
pub(crate) fn explore(model: fn()) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS_MAX);
    builder.check(model);
}

/// A value that notices any use which its drop has not seen, and counts the drops.
struct Seen {
    /// Loom's, which checks at the drop that every look came before.
    looks: loom::sync::atomic::AtomicUsize,
    drops: StdArc<AtomicUsize>,
}

impl Seen {
    fn new(drops: &StdArc<AtomicUsize>) -> Self {
        Self {
            looks: loom::sync::atomic::AtomicUsize::new(5),
            drops: drops.clone(),
        }
    }

    fn look(&self) {
        assert_eq!(self.looks.load(Relaxed), 5);
    }
}

impl Drop for Seen {
    fn drop(&mut self) {
        self.looks.with_mut(|looks| *looks = 0);
        self.drops.fetch_add(1, Relaxed);
    }
}

type Handle = Arc<Seen, PerCore>;

/// A handle whose lineage counts its drops, and the count. Counts are std's on purpose: they must
/// not order what the model explores.
fn lineage() -> (Handle, StdArc<AtomicUsize>) {
    let drops = StdArc::new(AtomicUsize::new(0));
    let counted = drops.clone();
    (Arc::new_fn(move || Seen::new(&counted)), drops)
}

fn cores() -> Vec<Affinity> {
    pinned_affinities(&[4])
}

/// The handle at core 0 of a lineage with values at cores 0 and 1, and another one at core 1.
fn two_partitions() -> ([Handle; 2], StdArc<AtomicUsize>) {
    let (mut here, drops) = lineage();
    let mut there = here.clone();
    there.relocate(Some(cores()[0]), cores()[1]);
    here.relocate(None, cores()[0]);
    ([here, there], drops)
}
