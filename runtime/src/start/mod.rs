//! Starting a runtime: settings, places for shards, threads, and the end.

mod builder;
mod choice;
mod placement;
mod running;
mod thread;

pub use builder::{Builder, Runtime};
pub use running::Running;

pub(crate) use placement::Plan;
pub(crate) use thread::{decide, directory};
