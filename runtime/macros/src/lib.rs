//! Attribute macros of the corelane runtime.
