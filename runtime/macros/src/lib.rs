//! Attribute macros of the corelane runtime; use them as `corelane::main` and `corelane::test`.
//!
//! Each turns an async function into a plain one that hands it, with the attribute's options, to
//! the runtime. All that happens at run time stands in `corelane::entry`, so that what a macro
//! writes is a few lines.
#![forbid(unsafe_code)]

mod function;
mod misuse;
mod options;
mod program;
mod testing;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Runs an async `main` on shard 0 of a new runtime, which is the calling thread.
///
/// The function may return whatever a plain `main` may. A runtime that does not start prints one
/// line, `corelane did not start: …`, and ends the program with status 1.
///
/// Options, each at most once; what is left out keeps the builder's default:
///
/// - `shards = N`: how many shards, at least 1. By default one a physical core.
/// - `idle = "park" | "spin" | "spin-then-park"`: what an idle shard does.
/// - `driver = "auto" | "uring" | "epoll"`: which I/O backend.
///
/// Anything else (a plain function, arguments, generics, an unknown option) is an error of the
/// compiler that points at it. Programs with more to set use `corelane::Runtime::builder`.
#[proc_macro_attribute]
pub fn main(options: TokenStream, function: TokenStream) -> TokenStream {
    let (options, function) = (options.into(), proc_macro2::TokenStream::from(function));
    program::expand(options, function.clone())
        .unwrap_or_else(|error| misuse::explain(&error, function))
        .into()
}

/// Runs an async test on each driver of this machine in turn, each time in a new runtime.
///
/// Without options these are io_uring, where the kernel allows it, and epoll; the body starts on
/// shard 0 of two. A test that fails names the driver, or the seed that replays it. The function
/// returns nothing or a `Result<(), E>` with `E: Debug`, whose error fails the test.
///
/// Options, each at most once:
///
/// - `shards = N`: how many shards, at least 1; 2 by default. They are pinned to cores of their own
///   when there are as many, else not pinned.
/// - `with = path`: a `fn(Builder) -> Builder` that makes further settings.
/// - `uring`, `epoll`, `sim`: the drivers to run on, instead of the two of the kernel.
/// - `seeds = N`: how many seeds `sim` runs, at least 1; 16 by default. The first runs twice, and
///   both runs must be the same.
///
/// Environment: `CORELANE_DRIVER` (`uring` or `epoll`) leaves the other one out, and makes a
/// refused io_uring a failure; otherwise it is left out, with a line on standard error.
/// `CORELANE_SIM_SEED` runs that one seed.
///
/// Misuse (a plain function, arguments, generics, an unknown option) is an error of the compiler
/// that points at it. So is `#[should_panic]`, which would see the first driver alone.
#[proc_macro_attribute]
pub fn test(options: TokenStream, function: TokenStream) -> TokenStream {
    let (options, function) = (options.into(), proc_macro2::TokenStream::from(function));
    testing::expand(options, function.clone())
        .unwrap_or_else(|error| misuse::explain(&error, function))
        .into()
}
