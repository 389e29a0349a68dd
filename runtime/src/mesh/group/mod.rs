//! Service groups: bounds on what a caller has in flight on a target.
//!
//! Owner: the calling shard has all credits of its own calls ([`Groups`]); nothing here is shared,
//! and a group itself is two numbers. Rules: a credit is taken before a call is sent, and comes
//! back when its target has dropped the call, also a cancelled one; who waits for one is served in
//! order. A call in a group takes credits of newer groups only ([`order`]), so a chain of waiting
//! callers ends at one that waits for none.

mod calls;
mod credits;
mod order;

pub use calls::{GroupCall, ServiceGroup};

pub(crate) use credits::Groups;
#[cfg(debug_assertions)]
pub(super) use order::within;
