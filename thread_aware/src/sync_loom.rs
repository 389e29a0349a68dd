//! The model build's side of `sync.rs`: loom's types, with each write noted.

use super::{Ordering, Owned, Site};
use crate::model::{note_read, note_write};
pub(crate) use loom::cell::UnsafeCell;
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
use std::sync::OnceLock;

/// Never backs off: a thread of a model that looks again and again has no end.
pub(crate) struct Backoff;

impl Backoff {
    pub(crate) fn new() -> Self {
        Self
    }

    pub(crate) fn is_completed(&self) -> bool {
        true
    }

    pub(crate) fn snooze(&self) {}
}

fn weakened(site: Site) -> bool {
    static WEAKENED: OnceLock<Option<String>> = OnceLock::new();
    let named = WEAKENED.get_or_init(|| std::env::var("CORELANE_WEAKEN").ok());
    named.as_deref() == Some(site.name())
}

pub(super) fn order(site: Site, order: Ordering) -> Ordering {
    if weakened(site) {
        Ordering::Relaxed
    } else {
        order
    }
}

/// A number for the current thread of the model, from 1.
pub(crate) use crate::model::thread_number;

/// A locked value that the whole model shares; each execution begins with a new one.
macro_rules! process_wide {
    ($name:ident: $type:ty = $value:expr) => {
        loom::lazy_static! {
            static ref $name: $crate::sync::Mutex<$type> = $crate::sync::Mutex::new($value);
        }
    };
}
pub(crate) use process_wide;

macro_rules! noted_atomic {
    ($name:ident<$($generic:ident)?>: $value:ty) => {
        /// Loom's atomic; each write is noted with its address.
        pub(crate) struct $name $(<$generic>)? (loom::sync::atomic::$name $(<$generic>)?);

        impl $(<$generic>)? $name $(<$generic>)? {
            #[track_caller]
            pub(crate) fn new(value: $value) -> Self {
                Self(loom::sync::atomic::$name::new(value))
            }

            #[track_caller]
            pub(crate) fn load(&self, order: Ordering) -> $value {
                note_read();
                self.0.load(order)
            }

            #[track_caller]
            pub(crate) fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let result = self.0.compare_exchange(current, new, success, failure);
                if result.is_ok() {
                    note_write(self);
                }
                result
            }
        }
    };
}

impl Owned for AtomicUsize {
    type Value = usize;

    #[track_caller]
    fn owned(&mut self) -> usize {
        self.0.with_mut(|value| *value)
    }
}

impl<T> Owned for AtomicPtr<T> {
    type Value = *mut T;

    #[track_caller]
    fn owned(&mut self) -> *mut T {
        self.0.with_mut(|value| *value)
    }
}

noted_atomic!(AtomicUsize<>: usize);
noted_atomic!(AtomicU64<>: u64);
noted_atomic!(AtomicPtr<T>: *mut T);

macro_rules! stored_atomic {
    ($name:ident<$($generic:ident)?>: $value:ty) => {
        impl $(<$generic>)? $name $(<$generic>)? {
            // Modelled by a swap: loom leaves a plain store and another thread's exchange without
            // an order of modification, so that an exchange could succeed on a value already
            // replaced, which no machine does (C++ [intro.races], coherence).
            #[track_caller]
            pub(crate) fn store(&self, value: $value, order: Ordering) {
                note_write(self);
                self.0.swap(value, order);
            }
        }
    };
}

stored_atomic!(AtomicU64<>: u64);
stored_atomic!(AtomicPtr<T>: *mut T);

impl AtomicUsize {
    #[track_caller]
    pub(crate) fn swap(&self, value: usize, order: Ordering) -> usize {
        note_write(self);
        self.0.swap(value, order)
    }

    #[track_caller]
    pub(crate) fn fetch_add(&self, value: usize, order: Ordering) -> usize {
        note_write(self);
        self.0.fetch_add(value, order)
    }

    #[track_caller]
    pub(crate) fn fetch_sub(&self, value: usize, order: Ordering) -> usize {
        note_write(self);
        self.0.fetch_sub(value, order)
    }
}

impl AtomicU64 {
    #[track_caller]
    pub(crate) fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        note_write(self);
        self.0.fetch_add(value, order)
    }
}
