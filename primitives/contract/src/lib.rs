//! Contract tests of the primitives on every host.
