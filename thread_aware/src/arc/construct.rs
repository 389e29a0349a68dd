//! The constructors, each with its way to make a partition's value.

use alloc::{boxed::Box, sync::Arc as StdArc};

use super::{
    error::StorageError,
    handle::{Arc, eager},
    storage::Storage,
    strategy::Strategy,
};
use crate::{ThreadAware, affinity::Affinity};

impl<T: Send + 'static, S: Strategy> Arc<T, S> {
    /// Makes the first value with `ctor` now, and each partition's with it when it is first
    /// visited. `ctor` captures nothing; [`new_fn`](Self::new_fn) takes one that does.
    ///
    /// ```
    /// use std::sync::Mutex;
    /// use thread_aware::{Arc, PerCore};
    ///
    /// let log = Arc::<_, PerCore>::new(Mutex::<Vec<String>>::default);
    /// log.lock().expect("nobody panicked").push("here".into());
    /// ```
    #[must_use]
    pub fn new(ctor: fn() -> T) -> Self {
        Self::new_fn(ctor)
    }

    /// As [`new`](Self::new), with a closure that may capture.
    ///
    /// ```
    /// use thread_aware::{Arc, PerNuma};
    ///
    /// let bytes = 1 << 16;
    /// let arena = Arc::<_, PerNuma>::new_fn(move || vec![0_u8; bytes]);
    /// assert_eq!(arena.len(), bytes);
    /// ```
    #[must_use]
    pub fn new_fn(ctor: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Self::with_value(ctor(), ctor)
    }

    /// Takes `value` as the first, and makes each further partition's with `ctor`.
    ///
    /// ```
    /// use thread_aware::{Arc, PerCore, ThreadAware, affinity::pinned_affinities};
    ///
    /// let cores = pinned_affinities(&[2]);
    /// let mut name = Arc::<_, PerCore>::with_value(String::from("first"), || "further".into());
    /// assert_eq!(*name, "first");
    /// name.relocate(Some(cores[0]), cores[1]);
    /// assert_eq!(*name, "further");
    /// ```
    #[must_use]
    pub fn with_value(value: T, ctor: impl Fn() -> T + Send + Sync + 'static) -> Self {
        eager(
            StdArc::new(value),
            Box::new(move |_, _, _| StdArc::new(ctor())),
        )
    }
}

impl<T: Send + ?Sized + 'static, S: Strategy> Arc<T, S> {
    /// As [`new`](Self::new), for values without a size of their own.
    ///
    /// ```
    /// use thread_aware::{Arc, PerCore};
    ///
    /// let text = Arc::<str, PerCore>::new_boxed(|| "text".into());
    /// assert_eq!(&*text, "text");
    /// ```
    #[must_use]
    pub fn new_boxed(ctor: fn() -> Box<T>) -> Self {
        let make = move || StdArc::from(ctor());
        eager(make(), Box::new(move |_, _, _| make()))
    }
}

impl<T: 'static, S: Strategy> Arc<T, S> {
    /// Makes each value from `data`, of which each partition gets a clone that was relocated to it.
    ///
    /// The first value is made now, from a clone that was not relocated.
    ///
    /// ```
    /// use thread_aware::{Arc, PerCore};
    ///
    /// let greeting = Arc::<_, PerCore>::new_with(String::from("hello"), |text| text + "!");
    /// assert_eq!(*greeting, "hello!");
    /// ```
    #[must_use]
    pub fn new_with<D>(data: D, f: fn(D) -> T) -> Self
    where
        D: ThreadAware + Send + Sync + Clone + 'static,
    {
        let first = StdArc::new(f(data.clone()));
        let make = move |_: &T, source: Option<Affinity>, destination: Affinity| {
            let mut data = data.clone();
            data.relocate(source, destination);
            StdArc::new(f(data))
        };
        eager(first, Box::new(make))
    }
}

impl<T: Clone + Send + 'static, S: Strategy> Arc<T, S> {
    /// Takes `value` as the first; each partition's is a clone of the one that arrives there first.
    ///
    /// For types that know nothing of relocation: the clone is not told either.
    ///
    /// ```
    /// use thread_aware::{Arc, PerCore};
    ///
    /// let table = Arc::<_, PerCore>::from_unaware(vec![1, 2, 3]);
    /// assert_eq!(*table, [1, 2, 3]);
    /// ```
    #[must_use]
    pub fn from_unaware(value: T) -> Self {
        eager(
            StdArc::new(value),
            Box::new(|carried: &T, _, _| StdArc::new(carried.clone())),
        )
    }
}

impl<T: ThreadAware + ?Sized + 'static, S: Strategy> Arc<T, S> {
    /// Keeps `value` as the pattern, and makes each value by `clone_fn` from it.
    ///
    /// A partition's value is relocated to it once it is made; the first one, made now, is not. The
    /// pattern may have a type of its own, so that values behind a trait can be cloned.
    ///
    /// ```
    /// use thread_aware::{Arc, PerCore, ThreadAware};
    ///
    /// type Number = Arc<dyn ThreadAware + Sync, PerCore>;
    /// let number = Number::with_clone_fn(5, |n: &i32| Box::new(*n));
    /// # drop(number);
    /// ```
    #[must_use]
    pub fn with_clone_fn<V: Send + Sync + 'static>(value: V, clone_fn: fn(&V) -> Box<T>) -> Self {
        let first = StdArc::from(clone_fn(&value));
        let make = move |_: &T, source: Option<Affinity>, destination: Affinity| {
            let mut clone = clone_fn(&value);
            clone.relocate(source, destination);
            StdArc::from(clone)
        };
        eager(first, Box::new(make))
    }
}

impl<T: ?Sized, S: Strategy> Arc<T, S> {
    /// A handle in the partition of `affinity`, whose values are those of `storage`.
    ///
    /// A later relocation to a partition that the storage has no value for takes the value along,
    /// as a std `Arc` would; it is that partition's value from then on. All handles made from one
    /// storage are one lineage.
    ///
    /// # Panics
    ///
    /// When the storage has no value for `affinity`; [`try_from_storage`](Self::try_from_storage)
    /// says so instead.
    ///
    /// ```
    /// use std::sync::Arc as StdArc;
    /// use thread_aware::{Arc, PerCore, affinity::pinned_affinities, storage::Storage};
    ///
    /// let cores = pinned_affinities(&[2]);
    /// let storage = Storage::<_, PerCore>::new();
    /// storage.insert(cores[1], StdArc::new(5)).expect("there was no value");
    /// let five = Arc::from_storage(StdArc::new(storage), cores[1]);
    /// assert_eq!(*five, 5);
    /// ```
    #[must_use]
    pub fn from_storage(storage: StdArc<Storage<T, S>>, affinity: Affinity) -> Self {
        match Self::try_from_storage(storage, affinity) {
            Ok(handle) => handle,
            Err(StorageError::Place(error)) => panic!("no handle at {affinity:?}: {error}"),
            Err(error) => panic!("{error}"),
        }
    }

    /// As [`from_storage`](Self::from_storage), without a panic.
    ///
    /// # Errors
    ///
    /// [`StorageError::Absent`] when the storage has no value for `affinity`, and
    /// [`StorageError::Place`] when that names no partition.
    pub fn try_from_storage(
        storage: StdArc<Storage<T, S>>,
        affinity: Affinity,
    ) -> Result<Self, StorageError> {
        storage.handle(affinity)
    }
}

impl<T, S: Strategy> Arc<T, S> {
    /// A handle in the partition of `affinity`, of a new lineage with these values.
    ///
    /// # Errors
    ///
    /// Those of [`try_from_storage`](Self::try_from_storage), and [`StorageError::Occupied`] when
    /// two values belong to one partition.
    ///
    /// ```
    /// use thread_aware::{Arc, PerCore, StorageError, affinity::pinned_affinities};
    ///
    /// let cores = pinned_affinities(&[2]);
    /// let names = [(cores[0], "left"), (cores[1], "right")];
    /// let name = Arc::<_, PerCore>::try_from_values(names, cores[1])?;
    /// assert_eq!(*name, "right");
    /// # Ok::<(), StorageError>(())
    /// ```
    pub fn try_from_values(
        values: impl IntoIterator<Item = (Affinity, T)>,
        affinity: Affinity,
    ) -> Result<Self, StorageError> {
        let storage = Storage::new();
        for (place, value) in values {
            storage.try_insert(place, StdArc::new(value))?;
        }
        storage.handle(affinity)
    }
}
