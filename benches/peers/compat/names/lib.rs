//! Nothing: what counts are the tests.
#![forbid(unsafe_code)]
