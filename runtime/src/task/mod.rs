//! Tasks: futures that stay on their shard.
#![allow(
    unsafe_code,
    reason = "tasks and work items are blocks that the shard lays out and frees itself"
)]

mod blocks;
mod current;
mod departures;
mod either;
mod item;
mod join;
mod joiner;
#[cfg(corelane_loom)]
pub(crate) mod model;
mod queue;
mod raw;
mod returns;
mod spawn;
mod table;
#[cfg(test)]
mod tests;
pub(crate) mod token;
mod wake;
mod waker;

pub use either::{Either, either};
pub use join::JoinHandle;
pub use spawn::{spawn, yield_now};
pub use wake::wake;

pub(crate) use blocks::Blocks;
pub(crate) use current::with_current;
pub(crate) use departures::{Departure, Departures};
pub(crate) use item::{Request, Sent, Traveller, Work, item};
pub(crate) use queue::TaskQueue;
pub(crate) use raw::{Ran, TaskRef};
pub(crate) use returns::{Chain, Returns};
pub(crate) use table::TaskTable;
pub(crate) use wake::wake_all;
pub(crate) use waker::waker;
