//! The repository's rules, each one a test that names every offender.
//!
//! A rule is a function from a [`tree::Tree`] to a list of offenders. The tree is the checkout for
//! the test that enforces the rule, and a few lines of text for the test that shows it to fire.
#![forbid(unsafe_code)]

#[path = "tidy/tokens.rs"]
mod tokens;
#[path = "tidy/tree.rs"]
mod tree;

#[path = "tidy/ci.rs"]
mod ci;
#[path = "tidy/clocks.rs"]
mod clocks;
#[path = "tidy/guarantees.rs"]
mod guarantees;
#[path = "tidy/layers.rs"]
mod layers;
#[path = "tidy/leftovers.rs"]
mod leftovers;
#[path = "tidy/manifest.rs"]
mod manifest;
#[path = "tidy/size.rs"]
mod size;
#[path = "tidy/unsafe_code.rs"]
mod unsafe_code;
