//! Values that stay on their shard while handles of them travel.
//!
//! Owner: the context of a shard holds its residents; other shards have keys of them, which say
//! nothing and borrow nothing. Rule: a resident goes when its last handle goes, by a departure that
//! any thread puts and the home takes, or with its shard, after the shard's tasks.

mod remote;
mod residents;

pub use remote::Remote;

pub(crate) use remote::Lodging;
pub(crate) use residents::{ResidentKey, Residents};
