//! How far every model is explored.

/// How often the explored schedules take a running thread off its core.
const PREEMPTIONS_MAX: usize = 3;

/// Explores `model`. Nothing outside it bounds the search, so a model has few steps and no open
/// loop.
pub(crate) fn explore(model: fn()) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS_MAX);
    builder.check(model);
}
