//! Thread-per-core runtime for Linux: a shard on every physical core, `!Send` tasks that never
//! migrate.
//!
//! ```
//! #[corelane::main]
//! async fn main() -> Result<(), corelane::SubmitError> {
//!     for shard in corelane::shards().iter() {
//!         let index = shard.submit(|| async { corelane::shard().index() }).await?;
//!         assert_eq!(index, shard.index());
//!     }
//!     Ok(())
//! }
//! ```
//!
//! A test runs on each driver of the machine, or in simulation from seeds:
//!
//! ```
//! #[corelane::test(shards = 2, uring, epoll, sim)]
//! async fn the_other_shard_answers() -> Result<(), corelane::SubmitError> {
//!     let there = corelane::shards()[1].clone();
//!     assert_eq!(there.submit(|| async { 6 * 7 }).await?, 42);
//!     Ok(())
//! }
//! ```
#![deny(unsafe_code)]

mod directory;
mod driver;
#[doc(hidden)]
pub mod entry;
mod error;
mod inbox;
pub mod io;
mod mesh;
pub mod metrics;
pub mod net;
mod sched;
mod settings;
mod shard;
pub mod shutdown;
pub mod signal;
pub mod sim;
mod start;
mod sync;
pub mod task;
pub mod time;

pub use corelane_macros::{main, test};
pub use directory::DriverInfo;
pub use error::{DriverError, JoinError, ShutdownError, StartError, SubmitError, TrySubmitError};
pub use mesh::{Inlet, Outlet, OutsideCall, OutsideShard, Submit};
pub use settings::{Driver, IdlePolicy, Placement};
pub use shard::{Shard, shard, shards};
pub use start::{Builder, Running, Runtime};
pub use task::{JoinHandle, spawn};
