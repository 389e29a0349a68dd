//! TCP: one listener, and a task a connection on the shard with the fewest.
//!
//! The shard that serves accepts. It sends each connection over a lane to the serving shard with
//! the fewest open ones, before anything of it is read; itself comes first among equals. That
//! balances exactly where listeners that share a port (`SO_REUSEPORT`) do not: the kernel's hash
//! put 64 connections on two of them as 26 and 38. It also keeps the port to one owner.
//!
//! Rules: a connection's seat and permit are held by its task, and its roster entry goes with them,
//! so whatever drops the task leaves the counts true. The lane's end tells a shard to close.

mod acceptor;
mod binding;
mod builder;
mod connection;
mod roster;
mod station;

pub use binding::Binding;
pub use builder::Tcp;
pub use connection::{Closing, Connection};
