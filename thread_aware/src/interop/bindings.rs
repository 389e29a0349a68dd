//! Which affinity each thread of a host has.
//!
//! Owner: one table of the process. It only grows and its entries never change, so whoever looks
//! something up follows pointers that were each set once, without a lock; whoever binds a thread
//! takes the lock of the counts.

use core::{
    error::Error,
    fmt,
    hash::{BuildHasher, BuildHasherDefault},
};
use std::{
    boxed::Box,
    hash::DefaultHasher,
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
};

use thread_aware_core::Thread;

use crate::{ThreadAware, affinity::Affinity};

/// How many threads may be bound in the life of the process.
pub const BINDINGS_MAX: usize = 65_535;

/// Why a thread was not bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BindError {
    /// It is bound to another affinity, this one.
    Bound(Affinity),
    /// [`BINDINGS_MAX`] threads are bound.
    Full,
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bound(affinity) => write!(f, "the thread is bound to {affinity:?}"),
            Self::Full => write!(f, "{BINDINGS_MAX} threads are bound, which is the limit"),
        }
    }
}

impl Error for BindError {}

/// One bound thread, and the way to the next one of the same bucket.
struct Binding {
    thread: Thread,
    affinity: Affinity,
    next: Link,
}

type Link = OnceLock<Box<Binding>>;

/// Enough that the threads of a large host have a bucket each.
const BUCKETS: usize = 1024;

static TABLE: [Link; BUCKETS] = [const { OnceLock::new() }; BUCKETS];

struct Counts {
    /// Entries of the table.
    bound: usize,
    /// Relocations that found no affinity for their destination.
    unbound: u64,
}

static COUNTS: Mutex<Counts> = Mutex::new(Counts {
    bound: 0,
    unbound: 0,
});

fn counts() -> MutexGuard<'static, Counts> {
    COUNTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The affinity of `thread`, or the end of its bucket's chain.
fn find(thread: &Thread) -> Result<Affinity, &'static Link> {
    let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(thread);
    let mut link = &TABLE[hash as usize % BUCKETS];
    while let Some(binding) = link.get() {
        if binding.thread == *thread {
            return Ok(binding.affinity);
        }
        link = &binding.next;
    }
    Err(link)
}

/// Says which affinity the values have that a host relocates to `thread`.
///
/// It holds for the life of the process, in all threads. Binding a thread again to the same
/// affinity does nothing. The cost is a lock and an entry in a table that is never
/// freed.
///
/// # Errors
///
/// [`BindError::Bound`] when the thread has another affinity, which it keeps, and
/// [`BindError::Full`].
pub fn bind(thread: &Thread, affinity: Affinity) -> Result<(), BindError> {
    let mut counts = counts();
    let end = match find(thread) {
        Ok(bound) if bound == affinity => return Ok(()),
        Ok(bound) => return Err(BindError::Bound(bound)),
        Err(_) if counts.bound >= BINDINGS_MAX => return Err(BindError::Full),
        Err(end) => end,
    };
    end.get_or_init(|| {
        counts.bound += 1;
        Box::new(Binding {
            thread: thread.clone(),
            affinity,
            next: OnceLock::new(),
        })
    });
    Ok(())
}

/// The affinity that `thread` is bound to.
///
/// The cost is a look-up in a hash table that nobody locks.
#[must_use]
pub fn affinity_of(thread: &Thread) -> Option<Affinity> {
    find(thread).ok()
}

/// How many relocations of this process went to a thread that was not bound, and did nothing.
#[must_use]
pub fn unbound() -> u64 {
    counts().unbound
}

/// Relocates a value of this crate's trait between two threads of a host.
///
/// If `destination` is not bound, nothing happens but that it is [counted](unbound).
pub fn relocate<T: ThreadAware + ?Sized>(
    value: &mut T,
    source: Option<&Thread>,
    destination: &Thread,
) {
    let Some(destination) = affinity_of(destination) else {
        counts().unbound += 1;
        return;
    };
    value.relocate(source.and_then(affinity_of), destination);
}
