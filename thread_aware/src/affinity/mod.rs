//! Where a value belongs: which processor of which topology, and where the current thread is.
//!
//! An [`Affinity`] is a small copyable index into a *topology*, a list of processors and the
//! memory regions that they belong to. The runtime enters a shard's affinity at every turn with
//! [`enter`]; whoever needs to know where it runs asks [`current`].

#[cfg(feature = "std")]
mod current;
#[cfg(feature = "std")]
mod interner;
mod shape;
mod value;

#[cfg(feature = "std")]
pub use current::{Entered, context, current, enter, with_context};
pub use shape::pinned_affinities;
pub use value::{Affinity, TopologyId};
