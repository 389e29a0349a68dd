//! Returns: work items on their way back to their sender, linked through the items themselves.
//!
//! Owner: the target links what it answers in a turn into a [`Chain`] and publishes it with one
//! compare-exchange; the sender takes all at once. One `Returns` a pair, so one publisher and one
//! taker. Rule: the publisher's Release pairs with the taker's Acquire. Model:
//! `tests/loom_returns.rs`.

use std::cell::Cell;
use std::fmt;
use std::ptr::{self, NonNull};

use super::item::{self, Header, Traveller};
use crate::sync::modelled::{AtomicPtr, Ordering, Site, acquire, release};

/// Items that one target has answered and one sender has not taken yet, newest first.
#[derive(Debug)]
pub(crate) struct Returns(Stack<Header>);

/// Items answered in one turn, newest first.
#[derive(Default)]
pub(crate) struct Chain(Links<Header>);

impl Chain {
    /// Adds an answered item.
    pub(crate) fn push(&mut self, traveller: Traveller) {
        self.0.push(traveller.into_raw());
    }
}

impl Returns {
    pub(crate) fn new() -> Self {
        Self(Stack::new())
    }

    /// Makes all items of `chain` visible to the sender. Never waits for room.
    pub(crate) fn publish(&self, chain: &mut Chain) {
        self.0.publish(&mut chain.0);
    }

    /// Whether there are items, as far as the taker can see.
    pub(crate) fn has_any(&self) -> bool {
        self.0.has_any()
    }

    /// Takes all items, oldest first.
    pub(crate) fn take(&self) -> Taken {
        Taken(self.0.take())
    }
}

impl Drop for Returns {
    fn drop(&mut self) {
        drop(self.take());
    }
}

/// Items that came back, oldest first; those not taken are dropped.
pub(crate) struct Taken(Option<NonNull<Header>>);

impl Iterator for Taken {
    type Item = Traveller;

    fn next(&mut self) -> Option<Traveller> {
        let item = Header::unlink(&mut self.0)?;
        // SAFETY: Valid: every item in the list came from `into_raw` in `push`. Exclusive: it has
        // just left the list.
        Some(unsafe { Traveller::from_raw(item) })
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}

/// What is linked through itself. Whoever holds an item of a list owns its link.
pub(super) trait Linked: Sized {
    /// The item's own link.
    fn link<'a>(item: NonNull<Self>) -> &'a Cell<*mut Self>;

    /// Takes the first item out of a list.
    fn unlink(first: &mut Option<NonNull<Self>>) -> Option<NonNull<Self>> {
        let item = (*first)?;
        *first = NonNull::new(Self::link(item).replace(ptr::null_mut()));
        Some(item)
    }
}

impl Linked for Header {
    fn link<'a>(item: NonNull<Self>) -> &'a Cell<*mut Self> {
        item::link(item)
    }
}

/// A list by its ends, the newest and the oldest item.
pub(super) struct Links<N>(Option<(NonNull<N>, NonNull<N>)>);

impl<N> Default for Links<N> {
    fn default() -> Self {
        Self(None)
    }
}

impl<N: Linked> Links<N> {
    pub(super) fn push(&mut self, item: NonNull<N>) {
        let oldest = match self.0 {
            None => item,
            Some((newest, oldest)) => {
                N::link(item).set(newest.as_ptr());
                oldest
            }
        };
        self.0 = Some((item, oldest));
    }
}

/// Lists that one thread takes: of answers, which one thread puts, or of departures, which any
/// thread does.
pub(super) struct Stack<N>(AtomicPtr<N>);

impl<N> fmt::Debug for Stack<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stack").finish_non_exhaustive()
    }
}

impl<N: Linked> Stack<N> {
    pub(super) fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    pub(super) fn publish(&self, links: &mut Links<N>) {
        let Some((newest, oldest)) = links.0.take() else {
            return;
        };
        // Most often all were taken, and trying so costs one move of the line where a look before
        // costs two (bench row `submit_spin`).
        let mut head = ptr::null_mut();
        loop {
            N::link(oldest).set(head);
            // Release: the answers are written before the items are seen. The loop is bounded where
            // one thread puts, since only the taker's swap can come between; of several who put,
            // one always gets on.
            match self.0.compare_exchange_weak(
                head,
                newest.as_ptr(),
                release(Site::RETURNS_PUBLISH),
                Ordering::Relaxed,
            ) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    fn has_any(&self) -> bool {
        !self.0.load(Ordering::Relaxed).is_null()
    }

    /// Takes all, as a list from the oldest on.
    pub(super) fn take(&self) -> Option<NonNull<N>> {
        if !self.has_any() {
            return None;
        }
        // Acquire: pairs with the Release in `publish`.
        let taken = self.0.swap(ptr::null_mut(), acquire(Site::RETURNS_TAKE));
        let mut item = NonNull::new(taken);
        let mut oldest_first: Option<NonNull<N>> = None;
        while let Some(this) = item {
            item = NonNull::new(N::link(this).get());
            N::link(this).set(oldest_first.map_or(ptr::null_mut(), NonNull::as_ptr));
            oldest_first = Some(this);
        }
        oldest_first
    }
}
