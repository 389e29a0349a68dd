//! The facts that hold for a primitive with async ends, on every host.
//!
//! A fact is a function of a host (see `hosts`). Whatever hangs, since a wake was lost, fails after
//! [`bounded::PATIENCE`] instead.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

#[macro_use]
mod facts_on;

/// Runs each fact on each host.
macro_rules! on_every_host {
    ($($facts:tt)*) => {
        facts_on!(
            [threads: crate::hosts::Threads]
            [tokio: crate::hosts::Tokio]
            [epoll: crate::hosts::Shards::on(corelane::Driver::Epoll)]
            [uring: crate::hosts::Shards::on(corelane::Driver::Uring)]
            [sim: crate::hosts::Simulations::default()];
            $($facts)*
        );
    };
}

mod bounded;
mod channel;
mod futures;
mod hosts;
mod idle;
mod lane;
mod random;
mod ring;
mod ring64;
mod signal;
mod subscription;
mod tasks;
mod topic;
