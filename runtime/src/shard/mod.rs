//! A shard: one pinned thread and all that it owns.

mod context;
mod handle;
mod life;
pub(crate) mod mailbox;
mod turn;

pub use handle::{Shard, shard, shards};

pub(crate) use context::Context;
pub(crate) use handle::ShardIndex;
pub(crate) use life::{finish, run_until};
pub(crate) use turn::Pace;
