//! What the attribute macros expand to. Not for use by hand, and outside of what versions promise.
//!
//! The compiler refuses misuse of the macros; which words it points at stands in the tests of
//! `corelane-macros`, and all that it says in `tests/misuse`.
//!
//! ```compile_fail
//! #[corelane::main]
//! fn main() {}
//! ```
//! ```compile_fail
//! #[corelane::main(workers = 2)]
//! async fn main() {}
//! ```
//! ```compile_fail,E0277
//! // What a test expands to, with a body that returns a number.
//! corelane::entry::TestPlan::new().run(|| async { 3 });
//! ```

mod program;
mod test;

pub use program::program;
pub use test::{Outcome, TestPlan};

use std::error::Error;
use std::fmt::Write;

/// An error with its sources, in one line.
fn in_one_line(error: &dyn Error) -> String {
    let mut line = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        write!(line, ": {error}").expect("a string takes text");
        source = error.source();
    }
    line
}
