//! Which affinity each thread of a host has.
//!
//! Owner: one table of the process behind a lock. It only grows and its entries never change, so
//! each thread keeps what it has seen of it and finds it again without the lock.

use core::{cell::RefCell, error::Error, fmt};
use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Mutex, MutexGuard, PoisonError},
    thread_local,
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

#[derive(Default)]
struct Bindings {
    affinities: HashMap<Thread, Affinity>,
    /// How many relocations found no affinity for their destination.
    unbound: u64,
}

static BINDINGS: Mutex<Option<Bindings>> = Mutex::new(None);

thread_local! {
    /// The entries of the table that this thread has seen.
    static SEEN: RefCell<HashMap<Thread, Affinity>> = RefCell::new(HashMap::new());
}

fn with_table<R>(f: impl FnOnce(&mut Bindings) -> R) -> R {
    let mut table: MutexGuard<'_, _> = BINDINGS.lock().unwrap_or_else(PoisonError::into_inner);
    f(table.get_or_insert_default())
}

/// Says which affinity the values have that a host relocates to `thread`.
///
/// It holds for the life of the process, in all threads. Binding a thread again to the same
/// affinity does nothing. The cost is a lock and an entry in a table.
///
/// # Errors
///
/// [`BindError::Bound`] when the thread has another affinity, which it keeps, and
/// [`BindError::Full`].
pub fn bind(thread: &Thread, affinity: Affinity) -> Result<(), BindError> {
    with_table(|table| {
        let len = table.affinities.len();
        match table.affinities.entry(thread.clone()) {
            Entry::Occupied(bound) if *bound.get() == affinity => Ok(()),
            Entry::Occupied(bound) => Err(BindError::Bound(*bound.get())),
            Entry::Vacant(_) if len >= BINDINGS_MAX => Err(BindError::Full),
            Entry::Vacant(place) => {
                place.insert(affinity);
                Ok(())
            }
        }
    })
}

/// The affinity that `thread` is bound to.
///
/// The cost is a look-up in a map of the calling thread, and the first time one under a lock.
#[must_use]
pub fn affinity_of(thread: &Thread) -> Option<Affinity> {
    // A thread that is ending has no map any more and asks the table.
    let seen = SEEN.try_with(|seen| seen.borrow().get(thread).copied());
    if let Ok(Some(affinity)) = seen {
        return Some(affinity);
    }
    let affinity = with_table(|table| table.affinities.get(thread).copied())?;
    let kept = SEEN.try_with(|seen| seen.borrow_mut().insert(thread.clone(), affinity));
    debug_assert!(!matches!(kept, Ok(Some(other)) if other != affinity));
    Some(affinity)
}

/// How many relocations of this process went to a thread that was not bound, and did nothing.
#[must_use]
pub fn unbound() -> u64 {
    with_table(|table| table.unbound)
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
        return with_table(|table| table.unbound += 1);
    };
    value.relocate(source.and_then(affinity_of), destination);
}
