//! Working together with crates that know `thread_aware_core` (feature `core-interop`).
//!
//! `thread_aware_core` is the small crate in which the published thread-aware crates agree on one
//! trait. Its `relocate` names threads and not affinities. With this feature the types of this
//! crate have that trait too, so that a host written for it relocates them. What a thread means
//! here, the host says once for each of its threads with [`bind`]. A `Thread` comes from the host
//! alone: `thread_aware_core` has no public way to make one.
//!
//! ```
//! use thread_aware::{affinity::Affinity, interop};
//! use thread_aware_core::Thread;
//!
//! /// What a host does at its start, for each worker.
//! fn start(worker: &Thread, affinity: Affinity) {
//!     interop::bind(worker, affinity).expect("each worker is bound once");
//! }
//! ```
//!
//! A relocation to a thread that nobody bound does nothing, and is [counted](unbound). One from
//! such a thread is a relocation without a source.
//!
//! A type of yours that derives the trait of this crate gets the other one in a line:
//!
//! ```
//! use thread_aware::{ThreadAware, interop};
//! use thread_aware_core::Thread;
//!
//! #[derive(ThreadAware)]
//! struct Session {
//!     names: Vec<String>,
//! }
//!
//! impl thread_aware_core::ThreadAware for Session {
//!     fn relocate(&mut self, source: Option<&Thread>, destination: &Thread) {
//!         interop::relocate(self, source, destination);
//!     }
//! }
//! ```
//!
//! The feature needs Rust 1.95, since `thread_aware_core` does.

mod bindings;
mod impls;

pub use bindings::{BINDINGS_MAX, BindError, affinity_of, bind, relocate, unbound};
