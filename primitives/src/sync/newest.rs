//! A value that is replaced as a whole, by arc-swap or, in a model build, by a locked model of it.

pub(crate) use imp::Newest;

#[cfg(not(corelane_loom))]
mod imp {
    use arc_swap::ArcSwap;
    use std::sync::Arc;

    /// A shared value that is replaced as a whole, by whoever knows the last one.
    pub(crate) struct Newest<T>(ArcSwap<T>);

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
}

#[cfg(corelane_loom)]
mod imp {
    use crate::model::count_step;
    use loom::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

    /// All values ever published, and the index of the newest as an atomic: a reader may see
    /// an older one exactly where the memory model lets it. A place that was not published is
    /// `None`.
    pub(crate) struct Newest<T> {
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
            count_step();
            let index = self.newest.load(Ordering::Acquire);
            let value = self.lock()[index].clone();
            read(&value.expect("an index that was read was published"))
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

        fn lock(&self) -> MutexGuard<'_, Vec<Option<Arc<T>>>> {
            self.values.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }
}
