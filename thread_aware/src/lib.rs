//! Values that know which core they are on and relocate between cores.
//!
//! A thread-per-core program gives every core its own part of what it works on, so that no two
//! cores write the same memory. When a value moves to another core it must be told, or it goes on
//! working with the parts of the core that it left. This crate has the words for that, for use
//! with any executor:
//!
//! - [`affinity`]: an [`Affinity`](affinity::Affinity) names a place, and the module knows where the
//!   current thread is;
//! - [`ThreadAware`]: a value that can be told that it has moved, implemented for the types of
//!   core, alloc and std;
//! - `topology` (feature `threads`): the cores, caches and memory nodes that this process may use;
//! - `registry` (feature `threads`): pinning threads to them.
//!
//! The shared pointer whose value is per core, its strategies, the closures that relocate their
//! captures and the derive macro are not in this version yet.
//!
//! # Example
//!
//! ```
//! use thread_aware::{
//!     ThreadAware,
//!     affinity::{Affinity, pinned_affinities},
//! };
//!
//! /// Hands out ids that no other core hands out, without asking any.
//! #[derive(Default)]
//! struct Ids {
//!     core: u64,
//!     next: u64,
//! }
//!
//! impl ThreadAware for Ids {
//!     fn relocate(&mut self, _source: Option<Affinity>, destination: Affinity) {
//!         self.core = destination.processor_index() as u64;
//!     }
//! }
//!
//! impl Ids {
//!     fn next(&mut self) -> u64 {
//!         self.next += 1;
//!         self.core << 48 | self.next
//!     }
//! }
//!
//! let cores = pinned_affinities(&[4]);
//! let mut work = (String::from("a job"), Ids::default());
//! work.relocate(Some(cores[0]), cores[3]); // the collection tells its elements
//! assert_eq!(work.1.next(), 3 << 48 | 1);
//! ```
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `std` | yes | the current affinity, and implementations for the types of std |
//! | `threads` | no | `topology` and `registry`; brings `std`, core_affinity and rustix |
//!
//! Without `std` the crate needs `alloc` only. The crate has no unsafe code.
#![cfg_attr(not(feature = "std"), no_std)]
#![deny(unsafe_code)]

extern crate alloc;

pub mod affinity;
#[cfg(feature = "threads")]
pub mod registry;
mod relocate;
mod sync;
#[cfg(feature = "threads")]
pub mod topology;

pub use relocate::ThreadAware;
