//! Cells and locks: `&mut` reaches their value without borrowing or locking.

use core::cell::{Cell, OnceCell, RefCell};
#[cfg(feature = "std")]
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};

use crate::{ThreadAware, affinity::Affinity};

impl<T: ThreadAware + ?Sized> ThreadAware for Cell<T> {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        self.get_mut().relocate(source, destination);
    }
}

impl<T: ThreadAware + ?Sized> ThreadAware for RefCell<T> {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        self.get_mut().relocate(source, destination);
    }
}

impl<T: ThreadAware> ThreadAware for OnceCell<T> {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        if let Some(value) = self.get_mut() {
            value.relocate(source, destination);
        }
    }
}

#[cfg(feature = "std")]
impl<T: ThreadAware> ThreadAware for OnceLock<T> {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        if let Some(value) = self.get_mut() {
            value.relocate(source, destination);
        }
    }
}

/// A poisoned lock is relocated too: a move says nothing about whether its value is consistent.
#[cfg(feature = "std")]
impl<T: ThreadAware + ?Sized> ThreadAware for Mutex<T> {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        let value = self.get_mut().unwrap_or_else(PoisonError::into_inner);
        value.relocate(source, destination);
    }
}

/// A poisoned lock is relocated too: a move says nothing about whether its value is consistent.
#[cfg(feature = "std")]
impl<T: ThreadAware + ?Sized> ThreadAware for RwLock<T> {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        let value = self.get_mut().unwrap_or_else(PoisonError::into_inner);
        value.relocate(source, destination);
    }
}
