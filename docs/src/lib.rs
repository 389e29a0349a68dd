//! Documents as doctests, and the repository rules.
