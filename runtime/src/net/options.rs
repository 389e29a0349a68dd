//! How a listener is made.

/// The settings of a [`TcpListener`](super::TcpListener).
///
/// # Example
///
/// ```
/// use corelane::net::ListenOptions;
/// let options = ListenOptions::new().backlog(256).reuse_port();
/// assert_eq!(options, ListenOptions::default().reuse_port().backlog(256));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct ListenOptions {
    pub(crate) backlog: u16,
    pub(crate) reuse_port: bool,
    pub(crate) nodelay: bool,
}

impl ListenOptions {
    /// The defaults: a backlog of 4,096, an address of its own, small writes sent at once.
    pub fn new() -> Self {
        Self {
            backlog: 4096,
            reuse_port: false,
            nodelay: true,
        }
    }

    /// Connections that may wait to be accepted: 4,096 by default. The kernel holds it to
    /// `net.core.somaxconn`; a client that finds the queue full tries again after a second or more.
    pub fn backlog(mut self, connections: u16) -> Self {
        self.backlog = connections;
        self
    }

    /// Lets several listeners of one user share the address (`SO_REUSEPORT`), so that each shard
    /// can have its own. The kernel spreads connections over them by a hash, unevenly when they are
    /// few.
    pub fn reuse_port(mut self) -> Self {
        self.reuse_port = true;
        self
    }

    /// Lets accepted connections collect small writes into full segments (Nagle's algorithm).
    ///
    /// By default each write is sent at once (`TCP_NODELAY`): an owned buffer is a message already,
    /// and Nagle together with the peer's delayed acknowledgement can cost 40 ms a message.
    pub fn nagle(mut self) -> Self {
        self.nodelay = false;
        self
    }
}

impl Default for ListenOptions {
    fn default() -> Self {
        Self::new()
    }
}
