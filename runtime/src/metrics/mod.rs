//! What the shards count, and snapshots of it.
//!
//! Owner: each shard writes its own counters, with a plain load and store each; anybody reads them
//! at any time. A snapshot thus costs the shards nothing. It is not one moment of all counters:
//! each is read by itself, and they may disagree by what happened meanwhile.

mod counters;
mod snapshot;

pub use snapshot::{ShardSnapshot, Snapshot, snapshot};

pub(crate) use counters::ShardCounters;
