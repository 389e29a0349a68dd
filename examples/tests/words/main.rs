//! The embedded feed in words: every field, every hole, and how a book heals.

#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    reason = "what the tests share may panic as they do"
)]

mod fields;
mod fills;
mod holes;
mod packing;
