//! The contract tests of Corelane's primitives, on glommio's executors.
//!
//! The facts are those of `primitives/contract`, the same files; the host stands in
//! `tests/contract`. This library is empty.
#![forbid(unsafe_code)]
