//! A program's `main` as shard 0.

use std::future::Future;
use std::process::{ExitCode, Termination};

use crate::start::Builder;

/// Runs `main` and says what the program ends with: its own report, or 1 after one line on standard
/// error when the runtime does not start.
pub fn program<F, Fut>(builder: Builder, main: F) -> ExitCode
where
    F: FnOnce() -> Fut + 'static,
    Fut: Future + 'static,
    Fut::Output: Termination,
{
    match builder.run(main) {
        Ok(output) => output.report(),
        Err(error) => {
            eprintln!("corelane did not start: {}", super::in_one_line(&error));
            ExitCode::FAILURE
        }
    }
}
