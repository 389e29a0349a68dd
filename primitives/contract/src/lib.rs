//! Contract tests of the primitives on every host.
#![forbid(unsafe_code)]
