//! Returns: work items on their way back to their sender, linked through the items themselves.
//!
//! Owner: the target links what it answers in a turn into a [`Chain`] and publishes it with one
//! compare-exchange; the sender takes all at once. One `Returns` a pair, so one publisher and one
//! taker. Rule: the publisher's Release pairs with the taker's Acquire.

use std::ptr::{self, NonNull};

use super::item::{Header, Traveller, link};
use crate::sync::{AtomicPtr, Ordering};

/// Items that one target has answered and one sender has not taken yet, newest first.
#[derive(Debug)]
pub(crate) struct Returns(AtomicPtr<Header>);

/// Items answered in one turn, newest first.
#[derive(Default)]
pub(crate) struct Chain {
    ends: Option<(NonNull<Header>, NonNull<Header>)>,
}

impl Chain {
    /// Adds an answered item.
    pub(crate) fn push(&mut self, traveller: Traveller) {
        let item = traveller.into_raw();
        let oldest = match self.ends {
            None => item,
            Some((newest, oldest)) => {
                link(item).set(newest.as_ptr());
                oldest
            }
        };
        self.ends = Some((item, oldest));
    }
}

impl Returns {
    pub(crate) fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// Makes all items of `chain` visible to the sender. Never waits for room.
    pub(crate) fn publish(&self, chain: &mut Chain) {
        let Some((newest, oldest)) = chain.ends.take() else {
            return;
        };
        // Most often all were taken, and trying so costs one move of the line where a look before
        // costs two (bench row `submit_spin`).
        let mut head = ptr::null_mut();
        loop {
            link(oldest).set(head);
            // Release: the answers are written before the items are seen. The loop is bounded: only
            // the taker's swap can come between, and there is one taker.
            match self.0.compare_exchange_weak(
                head,
                newest.as_ptr(),
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Whether there are items, as far as the taker can see.
    pub(crate) fn has_any(&self) -> bool {
        !self.0.load(Ordering::Relaxed).is_null()
    }

    /// Takes all items, oldest first.
    pub(crate) fn take(&self) -> Taken {
        if !self.has_any() {
            return Taken(None);
        }
        // Acquire: pairs with the Release in `publish`.
        let mut item = NonNull::new(self.0.swap(ptr::null_mut(), Ordering::Acquire));
        let mut oldest_first: Option<NonNull<Header>> = None;
        while let Some(this) = item {
            item = NonNull::new(link(this).get());
            link(this).set(oldest_first.map_or(ptr::null_mut(), NonNull::as_ptr));
            oldest_first = Some(this);
        }
        Taken(oldest_first)
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
        let item = self.0?;
        self.0 = NonNull::new(link(item).get());
        link(item).set(ptr::null_mut());
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
