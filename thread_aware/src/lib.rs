//! Values that know which core they are on and relocate between cores.
//!
//! A thread-per-core program gives every core its own part of what it works on. When a value moves
//! to another core it should be told, so that it can swap the core-local parts that it carries.
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
