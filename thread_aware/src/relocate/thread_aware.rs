//! The trait, and what an implementation owes.

use crate::affinity::Affinity;

/// A value that can be told that it has moved to another core.
///
/// [`relocate`](Self::relocate) is called by whoever moves the value, once a move, on the thread
/// of the destination. Afterwards the value should be as independent of its source as it can be:
/// working with it should not touch memory that a thread elsewhere is writing. A plain value
/// has nothing to do, a collection passes the call on to its elements, and a value with a part a
/// core swaps that part.
///
/// Like `Clone`, relocation is not meant to be visible in what a value computes; it is about
/// which memory it touches. A value that is never relocated must still work.
///
/// # What the implementations for std types do
///
/// Numbers, text, paths, addresses, times, atomics and function pointers have nothing to do.
/// Collections, cells, locks and wrappers relocate each of their elements exactly once, in their
/// order, keys before their values. Maps, sets and heaps are drained and rebuilt, since a
/// relocation may change how a key hashes or compares; that costs as much as inserting every
/// element anew and allocates. When keys become equal by it, the last one stays. When an element's
/// relocation panics, the collection keeps all its elements, some relocated and some not. A
/// poisoned lock is relocated like any other and stays poisoned.
///
/// # `std::sync::Arc` has no implementation
///
/// That is on purpose. All handles of a std `Arc` share one value and one count: relocating
/// through one handle is impossible without exclusive access, and doing nothing would leave every
/// core writing the count's line, which is what a relocation is there to end, without a word to
/// whoever expected it. The [`Arc`](crate::Arc) of this crate is the one to take. Whoever wants to
/// share in spite of that says so, by wrapping the std `Arc` in [`Unaware`](crate::Unaware). The
/// same holds for shared references, but for those to text and paths.
///
/// ```compile_fail,E0277
/// use thread_aware::{ThreadAware, affinity::pinned_affinities};
///
/// let mut shared = std::sync::Arc::new(5);
/// shared.relocate(None, pinned_affinities(&[1])[0]);
/// ```
///
/// # Examples
///
/// ```
/// use thread_aware::{
///     ThreadAware,
///     affinity::{Affinity, pinned_affinities},
/// };
///
/// /// Counts by core, without two cores ever writing one line.
/// struct Counter {
///     home: Option<Affinity>,
///     names: Vec<String>,
/// }
///
/// impl ThreadAware for Counter {
///     fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
///         self.home = Some(destination);
///         self.names.relocate(source, destination);
///     }
/// }
///
/// let cores = pinned_affinities(&[2]);
/// let mut counters = vec![Counter { home: None, names: Vec::new() }];
/// counters.relocate(Some(cores[0]), cores[1]);
/// assert_eq!(counters[0].home, Some(cores[1]));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not thread-aware",
    label = "not thread-aware",
    note = "a type of your own derives it; what is shared goes into a `thread_aware::Arc`; what \
            stays as it is, into a `thread_aware::Unaware`, or `#[thread_aware(skip)]` says so"
)]
pub trait ThreadAware: Send {
    /// Tells the value that it moved from `source`, if that is known, to `destination`.
    ///
    /// Both may be equal, and either may be anonymous or of another topology than the one before;
    /// a value that cannot use them keeps what it has.
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity);
}
