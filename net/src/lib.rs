//! Network services on every shard of a Corelane runtime. In this version that is TCP.
//!
//! | | what it is |
//! |---|---|
//! | [`Tcp`] | serves TCP on every shard: each connection is one task on one shard |
//! | [`Limits`], [`Sharding`] | what a carrier may hold, and how many shards serve |
//! | [`Stats`] | what became of every connection |
//! | [`Limit`] | permits of one shard, for what a handler wants bounded |
//!
//! ```
//! use std::time::Duration;
//! use corelane::net::TcpStream;
//! use corelane_net::Tcp;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! corelane::Runtime::builder().run(|| async {
//!     let mut binding = Tcp::bind("127.0.0.1:0").serve(|conn| async move {
//!         // Sends everything back, until the client ends or breaks the connection.
//!         while let Ok(chunk) = conn.read_chunk().await {
//!             if chunk.is_empty() || conn.write_all(chunk).await.0.is_err() {
//!                 return;
//!             }
//!         }
//!     })?;
//!     let client = TcpStream::connect(binding.local_addr()).await?;
//!     client.write_all("hello").await.0?;
//!     assert_eq!(&client.read_chunk().await?[..], b"hello");
//!     drop(client);
//!     let stats = binding.close(Duration::from_secs(5)).await?;
//!     assert_eq!(stats.total.finished, 1);
//!     Ok::<_, Box<dyn std::error::Error>>(())
//! })??;
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod error;
mod limit;
mod settings;
mod sharding;
mod stats;
mod tcp;

pub use error::{CloseError, ServeError};
pub use limit::{Limit, Permit};
pub use settings::Limits;
pub use sharding::Sharding;
pub use stats::{ConnectionStats, ShardStats, Stats};
pub use tcp::{Binding, Closing, Connection, Tcp};
