//! Core-scaling benchmarks.
