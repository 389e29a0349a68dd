//! Pinning threads to processors (feature `threads`).
//!
//! [`ThreadRegistry`] chooses processors, gives each an affinity and pins threads to them. The
//! functions beside it do single steps for a runtime that places its threads itself.

mod pin;
mod threads;

pub use pin::{PinError, current_mask, original_mask, pin_current_thread, restore_mask};
pub use threads::{Affinities, ProcessorCount, RegistryError, ThreadRegistry};
