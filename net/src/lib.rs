//! Network carriers as per-core shards.
#![forbid(unsafe_code)]
