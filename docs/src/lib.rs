//! The documents of the repository, compiled.
//!
//! Every code block of a document is a doctest of the module that includes it, so that a document
//! cannot fall behind the code unseen. `tests/tidy.rs` holds the rules that the repository keeps.
#![forbid(unsafe_code)]

#[doc = include_str!("../../README.md")]
pub mod readme {}

#[doc = include_str!("../architecture.md")]
pub mod architecture {}

#[doc = include_str!("../benchmarks.md")]
pub mod benchmarks {}

#[doc = include_str!("../guarantees.md")]
pub mod guarantees {}

#[doc = include_str!("../guide.md")]
pub mod guide {}

#[doc = include_str!("../primitives.md")]
pub mod primitives {}

#[doc = include_str!("../rings.md")]
pub mod rings {}

#[doc = include_str!("../safety.md")]
pub mod safety {}

#[doc = include_str!("../services.md")]
pub mod services {}

#[doc = include_str!("../thread_aware.md")]
pub mod thread_aware {}
