//! Weakens each named ordering in turn: see `models/mutants.rs` of the primitives. In ordinary
//! builds it has nothing to do.

#[cfg(not(corelane_loom))]
fn main() {}

#[cfg(corelane_loom)]
#[path = "models/doorbells.rs"]
mod doorbells;
#[cfg(corelane_loom)]
#[path = "../../primitives/tests/models/explore.rs"]
mod explore;
#[cfg(corelane_loom)]
#[path = "models/idle.rs"]
mod idle;
#[cfg(corelane_loom)]
#[path = "models/inbox.rs"]
mod inbox;
#[cfg(corelane_loom)]
#[path = "models/item.rs"]
mod item;
#[cfg(corelane_loom)]
#[path = "models/mailbox.rs"]
mod mailbox;
#[cfg(corelane_loom)]
#[path = "../../primitives/tests/models/mutants.rs"]
mod mutants;
#[cfg(corelane_loom)]
#[path = "models/returns.rs"]
mod returns;

#[cfg(corelane_loom)]
fn main() -> std::process::ExitCode {
    let models = [
        mailbox::MODELS,
        doorbells::MODELS,
        returns::MODELS,
        item::MODELS,
        inbox::MODELS,
        idle::MODELS,
    ];
    let models = models.concat();
    mutants::run(&models, corelane::model::sites())
}
