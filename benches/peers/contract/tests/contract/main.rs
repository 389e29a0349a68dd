//! The facts that hold for a primitive with async ends, on glommio.
//!
//! They are the files of `primitives/contract`; only the host is of this package.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

#[macro_use]
#[path = "../../../../../primitives/contract/tests/contract/facts_on.rs"]
mod facts_on;

/// Runs each fact on the one host that is here.
macro_rules! on_every_host {
    ($($facts:tt)*) => {
        facts_on!([glommio: crate::hosts::Glommio]; $($facts)*);
    };
}

#[path = "../../../../../primitives/contract/tests/contract/bounded.rs"]
mod bounded;
#[path = "../../../../../primitives/contract/tests/contract/channel.rs"]
mod channel;
#[path = "../../../../../primitives/contract/tests/contract/futures.rs"]
mod futures;
mod hosts;
#[path = "../../../../../primitives/contract/tests/contract/lane/mod.rs"]
mod lane;
#[path = "../../../../../primitives/contract/tests/contract/random.rs"]
mod random;
#[path = "../../../../../primitives/contract/tests/contract/ring.rs"]
mod ring;
#[path = "../../../../../primitives/contract/tests/contract/ring64.rs"]
mod ring64;
#[path = "../../../../../primitives/contract/tests/contract/signal.rs"]
mod signal;
#[path = "../../../../../primitives/contract/tests/contract/subscription.rs"]
mod subscription;
#[path = "../../../../../primitives/contract/tests/contract/tasks.rs"]
mod tasks;
#[path = "../../../../../primitives/contract/tests/contract/topic/mod.rs"]
mod topic;
