//! Errors of the carriers, one enum an operation.

use std::io;
use std::net::SocketAddr;

use corelane::SubmitError;

/// Why nothing is served. No listener and no task is left.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The text is not an address with a port.
    #[error("not an address with a port")]
    Address(#[source] io::Error),
    /// The address is taken, not of this machine, or not allowed.
    #[error("cannot listen on {addr}")]
    Bind {
        /// The address that was asked for.
        addr: SocketAddr,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// More shards are to serve than the runtime has, or none.
    #[error("{wanted} shards cannot serve: the runtime has {shards}")]
    Shards {
        /// How many were asked for.
        wanted: usize,
        /// How many there are.
        shards: usize,
    },
    /// The sockets of a simulation cannot be moved to another shard: one shard can serve.
    #[error("{wanted} shards cannot serve: a simulation's sockets stay on one shard")]
    Simulated {
        /// How many shards were to serve.
        wanted: usize,
    },
    /// A limit of zero lets nothing through.
    #[error("the limit {0} is zero")]
    Limit(&'static str),
}

/// Why a binding did not close as asked: what it held on that shard is gone all the same.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CloseError {
    /// A shard stopped before its connections had ended.
    #[error("shard {shard} stopped serving before it was told to")]
    Shard {
        /// The shard's index.
        shard: usize,
        /// How it stopped.
        #[source]
        source: SubmitError,
    },
}
