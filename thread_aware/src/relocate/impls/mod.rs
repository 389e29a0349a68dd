//! `ThreadAware` for the types of core, alloc and std, and with a feature each for those of a few
//! other crates.

#[cfg(feature = "bytes")]
mod bytes;
mod cells;
mod functions;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "jiff02")]
mod jiff02;
mod plain;
mod rebuilt;
mod sequences;
mod tuples;
#[cfg(feature = "uuid")]
mod uuid;
mod wrappers;
