//! A reader's own reference to the newest value.
//!
//! Owner: one reader, who looks through `&mut`. What a replica keeps never says what is current:
//! each look loads the one published word, which is a plain signal's word or any other's pointer,
//! and compares it with that of what is kept.
//!
//! It has no ordering of its own. Where the word is the same, the look hands out what an earlier
//! one has acquired; where it is another, it reads as every reader does. A word that was seen is
//! not followed by an older one (coherence), so a set that was acknowledged is seen. No word comes
//! twice: versions never repeat, and the place of a snapshot that is kept is not used again.
//!
//! Models: `replicas_see_what_was_acknowledged` in `tests/loom_signal.rs`, of both kinds.

use super::handle::{Core, Signal};
use super::keep::{Mark, Version};
use super::plain::{Plain, Word};
use super::shared::{Shared, Snapshot};
use crate::sync::{Followed, Home, Newest};
use bytemuck::{CheckedBitPattern, NoUninit};
use std::fmt;
use std::sync::Arc;
use thread_aware::ThreadAware;
use thread_aware::affinity::Affinity;

/// One reader's own reference to the latest value of a [`Signal`] or a
/// [`Subscription`](crate::Subscription), made by [`Signal::replica`] or
/// [`Subscription::replica`](crate::Subscription::replica).
///
/// Each call looks by one load whether a value was set since the last one, and only then fetches
/// it; nothing is cached beyond that, so a replica answers as the signal itself does, at once. Take
/// one for each reader that looks often, and make it where it is used.
///
/// What it saves depends on the signal:
///
/// - A plain signal's replica fetches into an allocation of its own. [`get`](Self::get) counts
///   there, so readers on several cores write to no common line, and allocate once a change instead
///   of once a read.
/// - Any other's keeps the very value that all share. [`get`](Self::get) counts where every other
///   reader does, which is as fast as one cache line that travels between cores;
///   [`look`](Self::look) counts nothing, here as there.
///
/// It keeps the value that it has seen last until it looks again, or is dropped. It does not keep
/// the signal open. A clone is a replica by itself.
///
/// ```
/// use corelane_primitives::Signal;
///
/// let limits = Signal::plain([1_000_u64, 50]);
/// let mut replica = limits.replica();
/// let before = replica.get();
/// limits.set([500, 20])?;
/// assert_eq!((*before, **replica.look()), ([1_000, 50], [500, 20]));
/// # Ok::<(), corelane_primitives::Closed<[u64; 2]>>(())
/// ```
pub struct Replica<S: Replicated> {
    own: S::Own,
}

impl<S: Replicated> Replica<S> {
    pub(crate) fn new(own: S::Own) -> Self {
        Self { own }
    }

    /// The current value, shared: it stays as it is whatever is set later.
    ///
    /// One load and one count up, where nothing was set since the last look.
    ///
    /// # Panics
    ///
    /// If the drop of the value that is let go does; the next look goes on.
    #[inline]
    pub fn get(&mut self) -> Arc<S::Value> {
        Arc::clone(self.look())
    }

    /// Lends the current value, until the next look. It counts nothing.
    ///
    /// One load, where nothing was set since the last look.
    ///
    /// # Panics
    ///
    /// As [`get`](Self::get).
    #[inline]
    pub fn look(&mut self) -> &Arc<S::Value> {
        self.own.look().1
    }

    /// [`look`](Self::look), with the version of the very value that is lent.
    ///
    /// # Panics
    ///
    /// As [`get`](Self::get).
    #[inline]
    pub fn look_versioned(&mut self) -> (Version, &Arc<S::Value>) {
        let (mark, value) = self.own.look();
        (mark.version, value)
    }

    /// The version of the current value, which the replica has then.
    ///
    /// # Panics
    ///
    /// As [`get`](Self::get).
    #[inline]
    pub fn version(&mut self) -> Version {
        self.own.look().0.version
    }

    /// Whether the current value is the last one, which the replica has then.
    ///
    /// # Panics
    ///
    /// As [`get`](Self::get).
    #[inline]
    pub fn is_closed(&mut self) -> bool {
        self.own.look().0.is_last
    }
}

impl<S: Replicated> Clone for Replica<S> {
    fn clone(&self) -> Self {
        Self::new(self.own.clone())
    }
}

/// A replica of a plain signal lets its copy go and makes another one where it is used next, so
/// that it shares no line with who stays. Any other keeps what it has, which is one for all cores.
impl<S: Replicated<Own: Send, Value: Send>> ThreadAware for Replica<S> {
    fn relocate(&mut self, _source: Option<Affinity>, _destination: Affinity) {
        self.own.settle();
    }
}

impl<S: Replicated> fmt::Debug for Replica<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replica").finish_non_exhaustive()
    }
}

/// What has replicas.
pub trait Replicated {
    /// What it is the newest value of.
    type Value;

    /// What a replica is inside.
    type Own: Own<Self::Value>;
}

/// The inside of a replica.
pub trait Own<T>: Clone {
    /// The newest value, with what it is, as one unit.
    fn look(&mut self) -> (Mark, &Arc<T>);

    /// It may be on another core from now on.
    fn settle(&mut self) {}
}

impl<T> Replicated for Signal<T> {
    type Value = T;
    type Own = OfShared<Arc<Core<T, Shared<T>>>>;
}

impl<T: NoUninit + CheckedBitPattern> Replicated for Signal<T, Plain<T>> {
    type Value = T;
    type Own = OfPlain<T>;
}

/// It keeps the snapshot that all share.
pub struct OfShared<H: Home>(Followed<H>);

impl<H: Home> OfShared<H> {
    pub(crate) fn new(home: H) -> Self {
        Self(Followed::new(home))
    }
}

impl<H: Home> Clone for OfShared<H> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T, H: Home<Value = Snapshot<T>>> Own<T> for OfShared<H> {
    #[inline]
    fn look(&mut self) -> (Mark, &Arc<T>) {
        let snapshot = self.0.look();
        (snapshot.mark, &snapshot.value)
    }
}

impl<T> Home for Arc<Core<T, Shared<T>>> {
    type Value = Snapshot<T>;

    #[inline]
    fn newest(&self) -> &Newest<Snapshot<T>> {
        self.keep.newest()
    }
}

/// It keeps a copy, allocated by the thread that looks first: threads that allocate for themselves
/// get memory of different lines, one that makes replicas for others may not.
pub struct OfPlain<T> {
    core: Arc<Core<T, Plain<T>>>,
    copy: Option<(Word, Arc<T>)>,
}

impl<T> OfPlain<T> {
    pub(super) fn new(core: Arc<Core<T, Plain<T>>>) -> Self {
        Self { core, copy: None }
    }
}

impl<T> Clone for OfPlain<T> {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.core))
    }
}

impl<T: NoUninit + CheckedBitPattern> Own<T> for OfPlain<T> {
    #[inline]
    fn look(&mut self) -> (Mark, &Arc<T>) {
        let newest = self.core.keep.load();
        let kept = self.copy.take_if(|(word, _)| *word != newest);
        drop(kept);
        let (word, value) = self.copy.get_or_insert_with(|| fetch(&self.core.keep));
        (word.mark(), value)
    }

    fn settle(&mut self) {
        self.copy = None;
    }
}

#[cold]
fn fetch<T: NoUninit + CheckedBitPattern>(keep: &Plain<T>) -> (Word, Arc<T>) {
    let (word, value) = keep.copy();
    (word, Arc::new(value))
}
