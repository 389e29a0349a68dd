//! Sockets of a shard.
//!
//! A socket belongs to the shard that made it and is not `Send`. Operations take owned buffers (see
//! [`crate::io`]) and work the same on every driver.

mod addr;
mod listener;
mod options;
mod stream;

pub use addr::ToAddr;
pub use listener::TcpListener;
pub use options::ListenOptions;
pub use stream::TcpStream;

use std::future::poll_fn;

use crate::shard::Context;

/// Takes an operation from the task's budget; when that is spent, lets the other tasks go first.
async fn budget() {
    poll_fn(|cx| Context::poll_budget(cx)).await;
}
