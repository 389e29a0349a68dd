//! The facts that hold for a primitive with async ends, on every host.
//!
//! A fact is a function of a host (see `hosts`). Whatever hangs, since a wake was lost, fails after
//! [`bounded::PATIENCE`] instead.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

/// Runs each fact on each host, in a module a host: `epoll::name_of_the_fact`. A fact that proves a
/// guarantee is written as the test that it is, so that its mark stands above one.
macro_rules! on_every_host {
    ($(#[test] fn $facts:ident :: $fact:ident;)+) => {
        on_every_host!($($facts :: $fact),+);
    };
    ($($facts:ident :: $fact:ident),* $(,)?) => {
        on_every_host!(@hosts
            [$($facts :: $fact),*]
            [threads: crate::hosts::Threads]
            [tokio: crate::hosts::Tokio]
            [epoll: crate::hosts::Shards::on(corelane::Driver::Epoll)]
            [uring: crate::hosts::Shards::on(corelane::Driver::Uring)]
            [sim: crate::hosts::Simulations::default()]
        );
    };
    (@hosts $facts:tt $([$module:ident : $host:expr])*) => {
        $(on_every_host!(@host $module $host, $facts);)*
    };
    (@host $module:ident $host:expr, [$($facts:ident :: $fact:ident),*]) => {
        mod $module {
            $(
                #[test]
                fn $fact() {
                    crate::bounded::run($host, super::$facts::$fact);
                }
            )*
        }
    };
}

mod bounded;
mod channel;
mod futures;
mod hosts;
mod lane;
mod random;
mod ring;
mod ring64;
mod signal;
mod subscription;
mod tasks;
mod topic;
