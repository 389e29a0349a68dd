//! Sockets of a shard.

mod options;

pub use options::ListenOptions;
