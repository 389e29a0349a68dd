//! Concurrency primitives built from per-core parts, for any executor.
