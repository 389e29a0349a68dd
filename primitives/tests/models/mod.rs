//! The models, shared by the `loom_*.rs` files, which run them as they stand, and by
//! `loom_mutants.rs`, which runs them with one ordering weakened.
//!
//! A lost wake ends as loom's "deadlock" panic, a missing happens-before as its causality panic.

mod explore;

pub(crate) use explore::explore;
