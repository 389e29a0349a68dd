//! Network carriers as per-core shards.
