//! Looking through a wrapper that std's `Arc` holds.
//!
//! It stands beside the handle because unsafe code stands nowhere else; it needs nothing of it, nor
//! `std`.
#![allow(unsafe_code)]

use alloc::sync::Arc;

use crate::Unaware;

impl<T> Unaware<T> {
    /// Turns a shared wrapper into the shared value, without moving it.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use thread_aware::{Unaware, unaware};
    ///
    /// let wrapped = Arc::new(unaware(String::from("a")));
    /// let value: Arc<String> = Unaware::into_arc(wrapped.clone());
    /// assert!(std::ptr::eq(&*value, &wrapped.0));
    /// ```
    #[must_use]
    pub fn into_arc(self: Arc<Self>) -> Arc<T> {
        let value = Arc::into_raw(self);
        // SAFETY: Valid: `into_raw` gave the pointer, and `Unaware<T>` is transparent, so it has
        // the size, the alignment and the content of `T`. Exclusive: the count that `into_raw`
        // left behind is the new handle's.
        unsafe { Arc::from_raw(value.cast::<T>()) }
    }
}
