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
#[path = "models/channel.rs"]
mod channel;
#[cfg(corelane_loom)]
#[path = "models/claim.rs"]
mod claim;
#[cfg(corelane_loom)]
#[path = "models/kept.rs"]
mod kept;
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
#[path = "models/reached.rs"]
mod reached;
#[cfg(corelane_loom)]
#[path = "models/ring64.rs"]
mod ring64;
#[cfg(corelane_loom)]
#[path = "models/signal.rs"]
mod signal;
#[cfg(corelane_loom)]
#[path = "models/subscription.rs"]
mod subscription;
#[cfg(corelane_loom)]
#[path = "models/topic.rs"]
mod topic;
#[cfg(corelane_loom)]
#[path = "models/waiters.rs"]
mod waiters;

#[cfg(corelane_loom)]
fn main() -> std::process::ExitCode {
    let mut families = [
        ("park.", park::MODELS),
        ("lane.", lane::MODELS),
        ("ring64.", ring64::MODELS),
        ("claim.", claim::MODELS),
        ("wait.", waiters::MODELS),
        ("signal.", signal::MODELS),
        ("topic.", topic::MODELS),
        ("subscription.", subscription::MODELS),
        ("channel.", channel::MODELS),
    ];
    // A mutant meets the models of its own family first; the order of the others stays.
    let weakened = std::env::var("CORELANE_WEAKEN").unwrap_or_default();
    families.sort_by_key(|(family, _)| !weakened.starts_with(family));
    let models = families.map(|(_, models)| models).concat();
    mutants::run(&models, corelane_primitives::model::sites())
}
