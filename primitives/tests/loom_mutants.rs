//! Weakens each named ordering in turn: see `models/mutants.rs`. In ordinary builds it has nothing
//! to do.

#[cfg(not(corelane_loom))]
fn main() {}

#[cfg(corelane_loom)]
#[path = "models/alarm.rs"]
mod alarm;
#[cfg(corelane_loom)]
#[path = "models/bell.rs"]
mod bell;
#[cfg(corelane_loom)]
#[path = "models/claim.rs"]
mod claim;
#[cfg(corelane_loom)]
#[path = "models/lane.rs"]
mod lane;
#[cfg(corelane_loom)]
mod models;
#[cfg(corelane_loom)]
#[path = "models/mutants.rs"]
mod mutants;
#[cfg(corelane_loom)]
#[path = "models/park.rs"]
mod park;
#[cfg(corelane_loom)]
#[path = "models/ring64.rs"]
mod ring64;
#[cfg(corelane_loom)]
#[path = "models/signal.rs"]
mod signal;
#[cfg(corelane_loom)]
#[path = "models/topic.rs"]
mod topic;
#[cfg(corelane_loom)]
#[path = "models/waiters.rs"]
mod waiters;

#[cfg(corelane_loom)]
fn main() -> std::process::ExitCode {
    let models = [
        park::MODELS,
        lane::MODELS,
        ring64::MODELS,
        claim::MODELS,
        waiters::MODELS,
        signal::MODELS,
        topic::MODELS,
    ]
    .concat();
    mutants::run(&models, corelane_primitives::model::sites())
}
