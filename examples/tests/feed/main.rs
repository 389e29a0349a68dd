//! The market feed, from bytes to books.

#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    reason = "what the tests share may panic as they do"
)]

mod bad_input;
mod decoding;
mod generated;
mod properties;
mod replay;
mod rule;
mod support;
