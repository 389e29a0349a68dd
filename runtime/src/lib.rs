//! Thread-per-core runtime for Linux: a shard on every physical core, `!Send` tasks that never migrate.
#![deny(unsafe_code)]

mod directory;
mod driver;
mod error;
mod inbox;
pub mod io;
mod mesh;
mod metrics;
pub mod net;
mod sched;
mod settings;
mod shard;
pub mod shutdown;
pub mod sim;
mod start;
mod sync;
pub mod task;
pub mod time;

pub use directory::DriverInfo;
pub use error::{DriverError, JoinError, ShutdownError, StartError, SubmitError, TrySubmitError};
pub use mesh::{Inlet, Outlet, OutsideCall, OutsideShard, Submit};
pub use settings::{Driver, IdlePolicy, Placement};
pub use shard::{Shard, shard, shards};
pub use start::{Builder, Running, Runtime};
pub use task::{JoinHandle, spawn};
