//! Values that know which core they are on and relocate between cores.
//!
//! A thread-per-core program gives every core its own part of what it works on, so that no two
//! cores write the same memory. When a value moves to another core it must be told, or it goes on
//! working with the parts of the core that it left. This crate has the words for that, for use
//! with any executor:
//!
//! - [`affinity`]: an [`Affinity`](affinity::Affinity) names a place, and the module knows where
//!   the current thread is;
//! - [`ThreadAware`]: a value that can be told that it has moved, implemented for the types of
//!   core, alloc and std;
//! - `Arc` (feature `std`): a shared pointer with a value a core, a memory node or a process, by
//!   the strategies `PerCore`, `PerNuma` and `PerProcess` or one's own; `storage` for values that
//!   exist before it does;
//! - [`closure`]: closures whose captures relocate;
//! - [`Unaware`]: a wrapper for values to which no core matters;
//! - `topology` (feature `threads`): the cores, caches and memory nodes that this process may use;
//! - `registry` (feature `threads`): pinning threads to them.
//!
//! # Example
//!
//! ```
//! use thread_aware::{
//!     ThreadAware,
//!     affinity::{Affinity, pinned_affinities},
//! };
//!
//! /// Working memory that is fetched anew on the core that uses it.
//! #[derive(Default)]
//! struct Scratch {
//!     home: Option<Affinity>,
//!     bytes: Vec<u8>,
//! }
//!
//! impl ThreadAware for Scratch {
//!     fn relocate(&mut self, _source: Option<Affinity>, destination: Affinity) {
//!         self.home = Some(destination);
//!         self.bytes = Vec::with_capacity(self.bytes.capacity());
//!     }
//! }
//!
//! let cores = pinned_affinities(&[4]);
//! let mut work = (String::from("a job"), Scratch::default());
//! work.relocate(Some(cores[0]), cores[3]); // the tuple tells its elements
//! assert_eq!(work.1.home, Some(cores[3]));
//! ```
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `derive` | yes | `#[derive(ThreadAware)]` |
//! | `std` | yes | `Arc`, the current affinity, and implementations for the types of std |
//! | `threads` | no | `topology` and `registry`; brings `std`, core_affinity and rustix |
//! | `bytes`, `http`, `uuid` | no | implementations for the types of these crates, version 1 |
//! | `jiff02` | no | implementations for the types of jiff 0.2 |
//! | `core-interop` | no | `interop`: our types under hosts that know `thread_aware_core` |
//!
//! Without `std` the crate needs `alloc` only. Unsafe code stands in the `Arc` alone.
#![cfg_attr(not(feature = "std"), no_std)]
#![deny(unsafe_code)]

extern crate alloc;

pub mod affinity;
#[cfg(feature = "std")]
#[allow(unsafe_code)]
mod arc;
pub mod closure;
#[cfg(feature = "core-interop")]
pub mod interop;
#[cfg(all(feature = "std", corelane_loom))]
#[doc(hidden)]
pub mod model;
#[cfg(feature = "threads")]
pub mod registry;
mod relocate;
mod sync;
#[cfg(feature = "threads")]
pub mod topology;
#[path = "arc/transparent.rs"]
mod transparent;
mod unaware;

#[cfg(feature = "std")]
pub use arc::{
    Arc, Ignored, PerCore, PerNuma, PerProcess, RelocateError, StorageError, Weak, storage,
};
#[cfg(feature = "derive")]
pub use corelane_thread_aware_derive::ThreadAware;
pub use relocate::ThreadAware;
pub use unaware::{Unaware, unaware};
