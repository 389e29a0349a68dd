//! Thread-per-core runtime for Linux: a shard on every physical core, `!Send` tasks that never migrate.
#![deny(unsafe_code)]

mod driver;
mod error;
pub mod io;
mod metrics;
pub mod net;
mod sync;

pub use error::DriverError;
