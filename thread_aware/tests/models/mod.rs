//! The models, shared by `loom_arc.rs`, which runs them as they stand, and by `loom_mutants.rs`,
//! which runs them with one ordering weakened.
//!
//! A missing happens-before ends as loom's causality panic, a wait for ever as its deadlock panic.

pub(crate) mod arc;

/// How often the explored schedules take a running thread off its core.
const PREEMPTIONS_MAX: usize = 3;

/// Explores `model`. Nothing outside it bounds the search, so a model has few steps and no open
/// loop.
pub(crate) fn explore(model: fn()) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS_MAX);
    builder.check(model);
}
