//! Departures: how any thread tells a shard that a value which lives there is to be dropped.
//!
//! Owner: any thread puts, the value's home takes all at once. A departure is made with the value
//! and is its own place in the list, so that leaving needs neither room nor memory and never waits.
//! Rule: as in [`super::returns`], whose list this is; here several put. One who is overtaken tries
//! again, and then another one has got on. Models: `tests/loom_inbox.rs`.

use std::cell::Cell;
use std::fmt;
use std::ptr::{self, NonNull};

use super::returns::{Linked, Links, Stack};
use crate::home::ResidentKey;

/// The place of one value in the list of its home's departures.
pub(crate) struct Departure(Box<Node>);

struct Node {
    next: Cell<*mut Node>,
    key: ResidentKey,
}

// SAFETY: Valid: the link is null while the node is in its box, and the key is plain data.
// Exclusive: a node is in one box or in one list.
unsafe impl Send for Departure {}
// SAFETY: Valid and exclusive: through a shared reference nothing can be reached.
unsafe impl Sync for Departure {}

impl Departure {
    pub(crate) fn new(key: ResidentKey) -> Self {
        Self(Box::new(Node {
            next: Cell::new(ptr::null_mut()),
            key,
        }))
    }
}

impl Linked for Node {
    fn link<'a>(item: NonNull<Self>) -> &'a Cell<*mut Self> {
        // SAFETY: Valid: a node that is in a list was leaked by `put`, and `Taken` frees it when it
        // has left the list. Exclusive: it is only ever shared, and its cell has one owner.
        let node: &'a Self = unsafe { item.as_ref() };
        &node.next
    }
}

/// What is to be dropped on one shard.
#[derive(Debug)]
pub(crate) struct Departures(Stack<Node>);

impl Departures {
    pub(crate) fn new() -> Self {
        Self(Stack::new())
    }

    /// Adds a departure. The caller then rings the shard.
    pub(crate) fn put(&self, departure: Departure) {
        let mut links = Links::default();
        links.push(NonNull::from(Box::leak(departure.0)));
        self.0.publish(&mut links);
    }

    /// Takes all, oldest first.
    pub(crate) fn take(&self) -> Taken {
        Taken(self.0.take())
    }
}

impl Drop for Departures {
    fn drop(&mut self) {
        self.take().for_each(|_key| ());
    }
}

/// Keys of values that are to be dropped. Those not taken are forgotten with it.
pub(crate) struct Taken(Option<NonNull<Node>>);

impl Iterator for Taken {
    type Item = ResidentKey;

    fn next(&mut self) -> Option<ResidentKey> {
        let node = Node::unlink(&mut self.0)?;
        // SAFETY: Valid: every node in the list was leaked from its box by `put`. Exclusive: it has
        // just left the list.
        let node = unsafe { Box::from_raw(node.as_ptr()) };
        Some(node.key)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.for_each(|_key| ());
    }
}

impl fmt::Debug for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Departure").field(&self.0.key).finish()
    }
}
