//! The limits of a carrier, with their defaults.

use crate::ServeError;

/// What a carrier may hold. Every limit has a default, and going over one is counted.
///
/// ```
/// use corelane_net::Limits;
/// let limits = Limits::new().connections_max(100);
/// assert_eq!(limits, Limits::default().connections_max(100));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Limits {
    pub(crate) connections_max: usize,
    pub(crate) handoffs_max: u16,
    pub(crate) backlog: u16,
}

impl Limits {
    /// The defaults, as the setters name them.
    pub fn new() -> Self {
        Self {
            connections_max: 10_240,
            handoffs_max: 256,
            backlog: 4096,
        }
    }

    /// Open connections a shard: 10,240 by default. One that comes when every serving shard has as
    /// many is closed at once, and counted as refused.
    pub fn connections_max(mut self, connections: usize) -> Self {
        self.connections_max = connections;
        self
    }

    /// Connections that may be on their way to a shard: 256 by default, rounded up to a power of
    /// two. When as many are, the next one stays on the shard that accepted it.
    pub fn handoffs_max(mut self, connections: u16) -> Self {
        self.handoffs_max = connections;
        self
    }

    /// Connections that may wait in the kernel to be accepted: 4,096 by default. The kernel holds
    /// it to `net.core.somaxconn`.
    pub fn backlog(mut self, connections: u16) -> Self {
        self.backlog = connections;
        self
    }

    /// The one check.
    pub(crate) fn check(&self) -> Result<(), ServeError> {
        for (name, limit) in [
            ("connections_max", self.connections_max),
            ("handoffs_max", usize::from(self.handoffs_max)),
            ("backlog", usize::from(self.backlog)),
        ] {
            if limit == 0 {
                return Err(ServeError::Limit(name));
            }
        }
        Ok(())
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}
