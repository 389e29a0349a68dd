//! Errors of services.

use crate::error::SubmitError;

/// Why a service did not start. The parts that had started are dropped, each on its shard.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShardedError<E> {
    /// A part could not be made.
    #[error("the part on shard {shard} could not be made")]
    Failed {
        /// The shard's index.
        shard: usize,
        /// What the function that makes parts said.
        #[source]
        source: E,
    },
    /// A part's making panicked, or its shard ended first.
    #[error("the part on shard {shard} was not made")]
    Submit {
        /// The shard's index.
        shard: usize,
        /// What became of the call.
        #[source]
        source: SubmitError,
    },
}

/// Why a call of a service has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvokeError {
    /// The service was stopped before the call arrived, or before it was done.
    #[error("the service has stopped on shard {shard}")]
    Stopped {
        /// The shard's index.
        shard: usize,
    },
    /// The call panicked, or its shard ended.
    #[error("the call on shard {shard} has no answer")]
    Submit {
        /// The shard's index.
        shard: usize,
        /// What became of the call.
        #[source]
        source: SubmitError,
    },
}

/// What a stop left behind. The service is stopped all the same.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StopError {
    /// Tasks of these shards kept their [`Local`](super::Local) beyond the deadline: the part there
    /// is dropped with the last of them.
    #[error("the parts on shards {shards:?} are still used")]
    StillUsed {
        /// The shards' indices.
        shards: Vec<usize>,
    },
    /// The drop of a part panicked. The other parts were dropped.
    #[error("the drop of the part on shard {shard} failed")]
    Drop {
        /// The shard's index.
        shard: usize,
        /// What became of it.
        #[source]
        source: SubmitError,
    },
}
