//! Where a value belongs: which processor of which topology, and where the current thread is.
//!
//! An [`Affinity`] is a small copyable index into a *topology*, a list of processors and the
//! memory regions that they belong to. The runtime enters a shard's affinity at every turn with
//! `enter`; whoever needs to know where it runs asks `current`. Both need feature `std`.

#[cfg(feature = "std")]
mod current;
#[cfg(feature = "std")]
mod interner;
#[cfg(feature = "threads")]
mod machine;
mod shape;
mod value;

#[cfg(all(feature = "std", not(corelane_loom)))]
pub(crate) use current::thread_number;
#[cfg(feature = "std")]
pub use current::{Entered, context, current, enter, entry, with_context};
#[cfg(feature = "threads")]
pub(crate) use current::{pinned, set_pinned};
#[cfg(feature = "threads")]
pub(crate) use machine::machine_affinities;
pub use shape::pinned_affinities;
pub use value::{Affinity, TopologyId};
