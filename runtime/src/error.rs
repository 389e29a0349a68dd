//! Errors of the runtime, one enum an operation.

use std::any::Any;
use std::io;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use thread_aware::registry::PinError;
use thread_aware::topology::TopologyError;

/// Why an I/O driver could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// The kernel, a seccomp filter or a limit refuses io_uring.
    #[error("io_uring is refused")]
    UringRefused(#[source] io::Error),
    /// epoll, its timerfd or its eventfd could not be made.
    #[error("epoll could not be set up")]
    Epoll(#[source] io::Error),
    /// The receive buffers of a simulated shard could not be made.
    #[error("a simulated shard could not be set up")]
    Sim(#[source] io::Error),
}

/// Why a runtime did not start. No thread is left running.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The machine's processors could not be read.
    #[error("the processors of this machine could not be read")]
    Topology(#[from] TopologyError),
    /// The placement names no processor that this process may use.
    #[error("the placement leaves no processor to run on")]
    NoProcessor,
    /// No shard was asked for.
    #[error("a runtime has at least one shard")]
    NoShards,
    /// The placement names a processor that no machine has.
    #[error("there is no processor {0}")]
    Processor(usize),
    /// The operating system refused to pin a shard's thread.
    #[error("a shard could not be pinned")]
    Pin(#[from] PinError),
    /// Neither io_uring nor epoll could be set up, or not the one that was asked for.
    #[error("shard {shard} has no I/O driver")]
    Driver {
        /// The shard's index.
        shard: usize,
        /// What the driver said.
        #[source]
        source: DriverError,
    },
    /// A shard's thread, eventfd or mailbox could not be made.
    #[error("shard {shard} could not be made")]
    Shard {
        /// The shard's index.
        shard: usize,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// A lane's capacity must be a power of two, 2 to 2^20.
    #[error("lane capacity {0} is not a power of two from 2 to 2^20")]
    LaneCapacity(u32),
    /// An inbox must have room for 1 to 2^20 calls.
    #[error("inbox capacity {0} is not from 1 to 2^20")]
    InboxCapacity(usize),
    /// A number of receive buffers must be a power of two, 1 to 32,768.
    #[error("{0} receive buffers are not a power of two from 1 to 32,768")]
    Buffers(u32),
    /// More shards than a process can have.
    #[error("{0} shards are more than a process can have (4,096)")]
    TooManyShards(NonZero<usize>),
    /// `CORELANE_DRIVER` names no driver.
    #[error("CORELANE_DRIVER is {0:?}, not uring, epoll or auto")]
    DriverVariable(String),
    /// A simulation runs on the calling thread: it is run, not started.
    #[error("a simulation is run, not started")]
    SimulationNeedsRun,
    /// The calling thread is a shard already: runtimes do not nest on one thread.
    #[error("this thread runs a shard already")]
    Nested,
}

/// Why a task has no output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// The task was aborted, or its shard stopped first.
    #[error("the task was cancelled")]
    Cancelled,
    /// The task panicked; the value is what it panicked with.
    #[error("the task panicked: {0}")]
    Panicked(Panic),
}

/// Why a submitted call has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubmitError {
    /// The target shard has stopped, or stopped before the call was done.
    #[error("the shard is gone")]
    ShardGone,
    /// The call panicked on the target; the value is what it panicked with.
    #[error("the submitted call panicked: {0}")]
    Panicked(Panic),
    /// The call was cancelled on the target before it was done.
    #[error("the submitted call was cancelled")]
    Cancelled,
}

/// Why [`Shard::try_submit`](crate::Shard::try_submit) sent nothing; it hands the call back.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum TrySubmitError<F> {
    /// The lane (or, from outside the shards, the inbox) has no room.
    #[error("the way to the shard is full")]
    Full(F),
    /// The target shard has stopped.
    #[error("the shard is gone")]
    ShardGone(F),
}

impl<F> TrySubmitError<F> {
    /// The call that was not sent.
    pub fn into_call(self) -> F {
        match self {
            Self::Full(call) | Self::ShardGone(call) => call,
        }
    }
}

/// A runtime did not stop within its deadline.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShutdownError {
    /// These shards were still inside a poll; their threads are left behind.
    #[error("{shards} of the shards did not stop within the deadline")]
    StillRunning {
        /// How many shards did not stop.
        shards: usize,
    },
    /// The kernel still held this many operations at the deadline; their buffers are left to it.
    #[error("{operations} operations were still in flight at the deadline")]
    InFlight {
        /// How many operations were left.
        operations: usize,
    },
    /// A shard cannot wait for its own end. It was asked for all the same: the shards end by
    /// themselves.
    #[error("a shard does not wait for the end of its own runtime")]
    OnShard,
}

/// What a task or call panicked with.
///
/// Errors that carry it are `Send` and `Sync`, so that they go into any other error; the value
/// itself comes out by [`Panic::into_payload`].
pub struct Panic(Mutex<Box<dyn Any + Send>>);

impl Panic {
    pub(crate) fn new(payload: Box<dyn Any + Send>) -> Self {
        Self(Mutex::new(payload))
    }

    /// What the panic said, as far as it said it in text.
    #[must_use]
    pub fn message(&self) -> String {
        panic_message(&**self.0.lock().unwrap_or_else(PoisonError::into_inner)).to_owned()
    }

    /// The value, for [`std::panic::resume_unwind`] or a downcast.
    #[must_use]
    pub fn into_payload(self) -> Box<dyn Any + Send> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Display for Panic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message())
    }
}

impl std::fmt::Debug for Panic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Panic").field(&self.message()).finish()
    }
}

/// What a panic said, as far as it said it in text.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&'static str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(not a text)")
}

/// Runs the user's code where no handle can be given its panic: says it rather than swallow it, and
/// goes on.
#[inline]
pub(crate) fn contain(what: &'static str, code: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(code)) {
        tracing::error!(panic = panic_message(&*panic), "{what} panicked");
    }
}

impl JoinError {
    /// The value that the task panicked with.
    #[must_use]
    pub fn into_panic(self) -> Option<Box<dyn Any + Send>> {
        match self {
            Self::Panicked(panic) => Some(panic.into_payload()),
            Self::Cancelled => None,
        }
    }
}

impl SubmitError {
    /// What a call ends in whose task was dropped: by a panic in its own drop, or with its shard.
    pub(crate) fn lost() -> Self {
        if std::thread::panicking() {
            Self::Panicked(Panic::new(Box::new(
                "the submitted call panicked when it was dropped",
            )))
        } else {
            Self::ShardGone
        }
    }
}

impl<F> std::fmt::Debug for TrySubmitError<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::ShardGone(_) => "ShardGone(..)",
        })
    }
}
