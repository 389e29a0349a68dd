//! TCP as it is served: on every shard, within its limits, until it is closed.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

mod broken;
mod close;
mod limits;
mod panics;
mod refusals;
mod serve;
mod shutdown;
mod state;
mod support;
