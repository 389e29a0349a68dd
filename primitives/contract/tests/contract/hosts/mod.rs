//! Where futures run.

mod host;
mod shards;
mod side_by_side;
mod simulations;
mod threads;
mod tokio;

pub(crate) use self::tokio::Tokio;
pub(crate) use host::{Host, PLACES};
pub(crate) use shards::Shards;
pub(crate) use simulations::Simulations;
pub(crate) use threads::Threads;
