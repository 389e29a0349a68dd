//! The tasks that wait for one thing: for a socket to become readable, for a receive buffer to
//! return.
//!
//! Owner: one shard. Each waiting future has an entry of its own, which is taken out when the
//! future is dropped; so two tasks that wait for the same socket are both woken, and a waiter that
//! is gone costs nothing. The first entry stands in the structure itself: one waiter never
//! allocates.

use std::cell::{Cell, RefCell};
use std::task::Waker;

use crate::task::{wake, wake_all};

/// The entry of callers that poll without a future of their own (`futures_io`): one a list.
const POLLED: u64 = 0;

/// A list of waiting tasks. With the flags of a socket's direction it fills one cache line.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    entries: RefCell<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    first: Option<Entry>,
    /// Made when a second one waits, and kept.
    more: Option<Box<More>>,
    last_key: u64,
}

#[derive(Debug, Default)]
struct More {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    key: u64,
    waker: Waker,
}

impl Entries {
    fn find(&mut self, key: u64) -> Option<&mut Entry> {
        let more = self.more.iter_mut().flat_map(|more| &mut more.entries);
        self.first
            .iter_mut()
            .chain(more)
            .find(|entry| entry.key == key)
    }

    fn push(&mut self, entry: Entry) {
        if self.first.is_none() {
            self.first = Some(entry);
        } else {
            self.more.get_or_insert_default().entries.push(entry);
        }
    }

    fn remove(&mut self, key: u64) -> Option<Entry> {
        if self.first.as_ref().is_some_and(|entry| entry.key == key) {
            return self.first.take();
        }
        let more = &mut self.more.as_mut()?.entries;
        let index = more.iter().position(|entry| entry.key == key)?;
        Some(more.swap_remove(index))
    }
}

impl Waiters {
    /// Whether nobody waits.
    pub(crate) fn is_empty(&self) -> bool {
        let entries = self.entries.borrow();
        entries.first.is_none()
            && entries
                .more
                .as_ref()
                .is_none_or(|more| more.entries.is_empty())
    }

    /// Moves all wakers to `woken`, to be woken when no borrow is held.
    pub(crate) fn drain_into(&self, woken: &mut Vec<Waker>) {
        let mut entries = self.entries.borrow_mut();
        if let Some(entry) = entries.first.take() {
            woken.push(entry.waker);
        }
        if let Some(more) = &mut entries.more {
            woken.extend(more.entries.drain(..).map(|entry| entry.waker));
        }
    }

    /// Wakes all, one after the other. Who waits again meanwhile is woken the next time.
    pub(crate) fn wake_all(&self) {
        let mut woken = Vec::new();
        let first = {
            let mut entries = self.entries.borrow_mut();
            if let Some(more) = &mut entries.more {
                woken.extend(more.entries.drain(..).map(|entry| entry.waker));
            }
            entries.first.take()
        };
        if let Some(entry) = first {
            wake(entry.waker);
        }
        wake_all(woken);
    }

    fn put(&self, key: u64, waker: &Waker) {
        let mut entries = self.entries.borrow_mut();
        let Some(entry) = entries.find(key) else {
            return entries.push(Entry {
                key,
                waker: waker.clone(),
            });
        };
        let old = (!entry.waker.will_wake(waker))
            .then(|| std::mem::replace(&mut entry.waker, waker.clone()));
        // A waker's drop is foreign code: it runs without the borrow.
        drop(entries);
        drop(old);
    }

    fn forget(&self, key: u64) {
        let gone = self.entries.borrow_mut().remove(key);
        // As in `put`: foreign code.
        drop(gone);
    }

    fn new_key(&self) -> u64 {
        let mut entries = self.entries.borrow_mut();
        entries.last_key += 1;
        entries.last_key
    }
}

/// One future's place in a list. Dropping it takes the entry out.
#[derive(Debug)]
pub(crate) struct Wait<'a> {
    waiters: &'a Waiters,
    key: Cell<Option<u64>>,
}

impl<'a> Wait<'a> {
    /// A place for a future; it takes an entry at its first wait.
    pub(crate) fn new(waiters: &'a Waiters) -> Self {
        Self {
            waiters,
            key: Cell::new(None),
        }
    }

    /// The place that all callers share who poll without a future: the last one's waker counts, and
    /// it stays.
    pub(crate) fn polled(waiters: &'a Waiters) -> Self {
        Self {
            waiters,
            key: Cell::new(Some(POLLED)),
        }
    }

    /// Asks for a wake through `waker`.
    pub(crate) fn wait(&self, waker: &Waker) {
        let key = self.key.get().unwrap_or_else(|| self.waiters.new_key());
        self.key.set(Some(key));
        self.waiters.put(key, waker);
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        match self.key.get() {
            None | Some(POLLED) => {}
            Some(key) => self.waiters.forget(key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::task::Wake;

    use crate::sync::Counter;

    #[derive(Default)]
    struct Count(Counter);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.add(1);
        }
    }

    fn waker() -> (Arc<Count>, Waker) {
        let count = Arc::new(Count::default());
        (Arc::clone(&count), Waker::from(count))
    }

    #[test]
    fn every_waiter_is_woken_once() {
        let waiters = Waiters::default();
        let (a, b, c) = (waker(), waker(), waker());
        let waits = [
            Wait::new(&waiters),
            Wait::new(&waiters),
            Wait::polled(&waiters),
        ];
        for (wait, waker) in waits.iter().zip([&a.1, &b.1, &c.1]) {
            wait.wait(waker);
            wait.wait(waker);
        }
        waiters.wake_all();
        waiters.wake_all();
        assert_eq!([a.0.0.value(), b.0.0.value(), c.0.0.value()], [1, 1, 1]);
        assert!(waiters.is_empty());
    }

    #[test]
    fn a_dropped_wait_is_forgotten_and_no_other() {
        let waiters = Waiters::default();
        let (a, b) = (waker(), waker());
        for round in 0..100 {
            let first = Wait::new(&waiters);
            let second = Wait::new(&waiters);
            first.wait(&a.1);
            second.wait(&b.1);
            drop(if round % 2 == 0 { first } else { second });
            waiters.wake_all();
        }
        assert_eq!([a.0.0.value(), b.0.0.value()], [50, 50]);
        assert!(waiters.is_empty());
    }

    #[test]
    fn the_last_waker_of_a_polled_place_counts() {
        let waiters = Waiters::default();
        let (a, b) = (waker(), waker());
        Wait::polled(&waiters).wait(&a.1);
        Wait::polled(&waiters).wait(&b.1);
        let mut woken = Vec::new();
        waiters.drain_into(&mut woken);
        woken.into_iter().for_each(Waker::wake);
        assert_eq!([a.0.0.value(), b.0.0.value()], [0, 1]);
    }
}
