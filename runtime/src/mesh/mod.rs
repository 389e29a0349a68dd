//! The mesh: lanes between the shards of one runtime, and the doorbells that tell of them.
//!
//! Owner: each shard has its own ends (`Mesh`); what both ends of a pair share is a [`Pair`].
//! A work item goes to its target over the pair's lane and comes back over its [`Returns`], which
//! never lack room, since an item is its own place there. When the lane is full, items wait in the
//! sender's own queue in order; two shards that are full toward each other go on all the same,
//! since neither waits for the other before it takes.
//! Rule: a sender publishes in the lane, sets its bit at the target's doorbells (Release), fences
//! and rings if the target sleeps; the target marks itself asleep, fences and looks at the bits.
//! Cost is O(pairs in use): a turn looks at the target's doorbell words and then at set bits only.

mod calls;
mod doorbells;
mod ends;
mod group;
mod link;
mod outside;
mod relocation;
#[cfg(test)]
mod tests;

pub use calls::Submit;
pub(crate) use calls::send;
pub use group::{GroupCall, ServiceGroup};
pub use link::{Inlet, Outlet};
pub use outside::{OutsideCall, OutsideShard};

pub(crate) use doorbells::Doorbells;
pub(crate) use ends::{Mesh, Pair};
pub(crate) use group::Groups;
pub(crate) use relocation::relocating;
