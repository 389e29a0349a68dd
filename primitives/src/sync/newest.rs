//! A value that is replaced as a whole, by arc-swap or, in a model build, by a locked model of it.

pub(crate) use imp::{Followed, Newest};

/// Who has a [`Newest`] and is shared among its readers.
pub trait Home: Clone {
    type Value;

    fn newest(&self) -> &Newest<Self::Value>;
}

#[cfg(not(corelane_loom))]
mod imp {
    use super::Home;
    use arc_swap::{ArcSwap, Cache};
    use std::ops::Deref;
    use std::sync::Arc;

    /// A shared value that is replaced as a whole, by whoever knows the last one.
    pub struct Newest<T>(ArcSwap<T>);

    impl<T> Newest<T> {
        pub(crate) fn new(value: Arc<T>) -> Self {
            Self(ArcSwap::new(value))
        }

        /// Lends the newest value, in place.
        #[inline]
        pub(crate) fn read<R>(&self, read: impl FnOnce(&Arc<T>) -> R) -> R {
            read(&self.0.load())
        }

        /// Replaces `last`, or does nothing if it is not the newest any more.
        pub(crate) fn replace(&self, last: &Arc<T>, next: Arc<T>) -> bool {
            let found = self.0.compare_and_swap(last, next);
            Arc::ptr_eq(&found, last)
        }
    }

    /// The newest value as one reader keeps it.
    pub(crate) struct Followed<H: Home>(Cache<At<H>, Arc<H::Value>>);

    #[derive(Clone)]
    struct At<H>(H);

    impl<H: Home> Deref for At<H> {
        type Target = ArcSwap<H::Value>;

        #[inline]
        fn deref(&self) -> &Self::Target {
            &self.0.newest().0
        }
    }

    impl<H: Home> Followed<H> {
        pub(crate) fn new(home: H) -> Self {
            Self(Cache::new(At(home)))
        }

        /// The newest value. One load (Relaxed) tells that it is still the one that is kept: its
        /// place is not used again while it is kept, and it was acquired when it was taken.
        #[inline]
        pub(crate) fn look(&mut self) -> &Arc<H::Value> {
            self.0.load()
        }
    }

    impl<H: Home> Clone for Followed<H> {
        fn clone(&self) -> Self {
            Self(self.0.clone())
        }
    }
}

#[cfg(corelane_loom)]
mod imp {
    use super::Home;
    use crate::model::count_step;
    use loom::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

    /// All values ever published, and the index of the newest as an atomic: a reader may see
    /// an older one exactly where the memory model lets it. A place that was not published is
    /// `None`.
    pub struct Newest<T> {
        values: Mutex<Vec<Option<Arc<T>>>>,
        newest: AtomicUsize,
    }

    impl<T> Newest<T> {
        #[track_caller]
        pub(crate) fn new(value: Arc<T>) -> Self {
            Self {
                values: Mutex::new(vec![Some(value)]),
                newest: AtomicUsize::new(0),
            }
        }

        #[track_caller]
        pub(crate) fn read<R>(&self, read: impl FnOnce(&Arc<T>) -> R) -> R {
            read(&self.take().1)
        }

        #[track_caller]
        pub(crate) fn replace(&self, last: &Arc<T>, next: Arc<T>) -> bool {
            count_step();
            let (from, to) = {
                let mut values = self.lock();
                let from = values.iter().position(|value| {
                    let value = value.as_ref();
                    value.is_some_and(|value| Arc::ptr_eq(value, last))
                });
                values.push(Some(next));
                let from = from.expect("the last value was the newest once");
                (from, values.len() - 1)
            };
            let replaced =
                self.newest
                    .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire);
            if replaced.is_err() {
                self.lock()[to] = None;
            }
            replaced.is_ok()
        }

        /// The newest value and its index.
        #[track_caller]
        fn take(&self) -> (usize, Arc<T>) {
            count_step();
            let index = self.newest.load(Ordering::Acquire);
            let value = self.lock()[index].clone();
            (index, value.expect("an index that was read was published"))
        }

        fn lock(&self) -> MutexGuard<'_, Vec<Option<Arc<T>>>> {
            self.values.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    /// The newest value as one reader keeps it; its index stands for its place in memory.
    pub(crate) struct Followed<H: Home> {
        home: H,
        index: usize,
        kept: Arc<H::Value>,
    }

    impl<H: Home> Followed<H> {
        #[track_caller]
        pub(crate) fn new(home: H) -> Self {
            let (index, kept) = home.newest().take();
            Self { home, index, kept }
        }

        #[track_caller]
        pub(crate) fn look(&mut self) -> &Arc<H::Value> {
            count_step();
            let newest = self.home.newest();
            if newest.newest.load(Ordering::Relaxed) != self.index {
                (self.index, self.kept) = newest.take();
            }
            &self.kept
        }
    }

    impl<H: Home> Clone for Followed<H> {
        fn clone(&self) -> Self {
            Self {
                home: self.home.clone(),
                index: self.index,
                kept: Arc::clone(&self.kept),
            }
        }
    }
}
