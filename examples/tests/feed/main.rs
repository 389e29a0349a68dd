//! The market feed, from bytes to books.

#![forbid(unsafe_code)]

mod bad_input;
mod decoding;
mod generated;
mod properties;
mod replay;
mod rule;
mod support;
