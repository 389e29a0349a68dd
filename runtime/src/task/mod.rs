//! Tasks: futures that stay on their shard.
#![allow(unsafe_code)]

mod blocks;
mod item;
mod join;
mod raw;
mod returns;
mod table;
pub(crate) mod token;
mod waker;

pub use join::JoinHandle;

pub(crate) use blocks::Blocks;
pub(crate) use item::{Request, Sent, Traveller, Work, item, recall};
pub(crate) use raw::TaskRef;
pub(crate) use returns::{Chain, Returns};
pub(crate) use table::TaskTable;
pub(crate) use waker::waker;
