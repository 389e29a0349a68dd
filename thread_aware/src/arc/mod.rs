//! The shared pointer with a value a partition.
//!
//! A [`handle`] is a pointer to the [`node`] of its partition and one to the value. Nodes stand in
//! a [`table`] a topology; a [`lineage`] has the list of tables, and lives as long as any of its
//! partitions has a handle. First touches go through [`making`]. docs/thread_aware.md has the whole
//! design and every ordering with its partner.

mod block;
mod construct;
mod error;
mod handle;
mod lineage;
mod making;
mod node;
mod relocation;
pub mod storage;
mod strategy;
mod table;
#[cfg(all(test, not(corelane_loom)))]
mod tests;
mod values;
mod weak;

pub use error::{Ignored, RelocateError, StorageError};
pub use handle::Arc;
pub use strategy::{PerCore, PerNuma, PerProcess};
pub use weak::Weak;
