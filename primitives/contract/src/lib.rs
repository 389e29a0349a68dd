//! Contract tests of the primitives on every host.
//!
//! A primitive knows nothing of its executor but the [`Waker`](std::task::Waker), so one contract
//! holds on each of them: Corelane's shards on every driver and in simulation, plain threads under
//! a `block_on`, and Tokio's current-thread runtimes. The facts and the hosts stand in
//! `tests/contract`; this library is empty, and the package is never published. On glommio's
//! executors `benches/peers/contract` runs the same facts.
#![forbid(unsafe_code)]
