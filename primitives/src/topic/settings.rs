//! What the maker of a topic chooses.

/// The most values that a topic keeps, and that a feed may be behind.
pub(crate) const CAPACITY_MAX: usize = 1 << 20;

/// What happens to a value for which a feed has no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TopicOverflow {
    /// The publisher waits until every such feed has room, or is gone. Nothing is lost.
    #[default]
    Backpressure,
    /// The feed does not get it: a full feed keeps what it has, the oldest values.
    DropNew,
    /// The feed loses its oldest value instead: a full feed has the newest ones.
    DropOldest,
}

/// In which order feeds get the values of several publishers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Order {
    /// One order for all feeds on all shards.
    #[default]
    Total,
    /// Each publishing shard's values in their order, and no order between those of two shards.
    ///
    /// Shards append to logs of their own, up to 16; beyond that, several share one. A capacity
    /// then counts for each log, and memory is 16 times as much. Publishers seldom meet, but a feed
    /// looks at all logs. A shard is an affinity, or else a thread: a task that moves between
    /// threads has the order of each thread.
    PerPublisher,
}
