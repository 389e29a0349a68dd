//! Padding that keeps two threads' words on lines of their own.
//!
//! A word that one thread writes and another reads costs a line transfer a change; two such words
//! on one line would pay for each other. The adjacent-line prefetcher of x86-64 pulls lines in
//! pairs, so there the padding is 128 bytes.

pub(crate) use crossbeam_utils::CachePadded;
