//! Code written for `thread_aware` 0.11 that uses every name of it.
//!
//! It is compiled twice, against that crate and against ours, with one line of the manifest
//! changed, and must do the same with both.
#![forbid(unsafe_code)]

mod affinities;
mod arcs;
mod async_closures;
mod closures;
mod derived;
mod probe;
mod registry;
mod std_types;
mod storages;
mod types_of_crates;
mod unaware;
