//! A service with a cache a core, for hosts that know nothing of Corelane but `thread_aware`.
//!
//! `pinned-threads` hosts it on plain threads, `tokio-runtimes` on a current-thread runtime of
//! Tokio a core. Both do the same: [`Tour`]s go from core to core, and each core answers from a
//! cache of its own that no other thread ever touches.
#![forbid(unsafe_code)]

mod report;
mod resolver;
mod tour;

pub use report::{Report, Visited, conclude};
pub use resolver::Resolver;
pub use tour::Tour;

/// How many tours a program sends.
pub const TOURS: usize = 64;

/// How many cores a tour visits.
pub const VISITS: usize = 100;
