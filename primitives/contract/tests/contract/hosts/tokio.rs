//! A current-thread runtime of Tokio on each of two threads, the future a local task there.

use std::future::Future;

use tokio::runtime::Builder;
use tokio::task::{LocalSet, spawn_local};

use super::Host;
use super::side_by_side::{on_threads, on_two_threads};

#[derive(Debug)]
pub(crate) struct Tokio;

impl Host for Tokio {
    fn pair<L, LF, R, RF>(&self, left: L, right: R) -> (LF::Output, RF::Output)
    where
        L: FnOnce() -> LF + Send + 'static,
        LF: Future + 'static,
        LF::Output: Send + 'static,
        R: FnOnce() -> RF + Send + 'static,
        RF: Future + 'static,
        RF::Output: Send + 'static,
    {
        on_two_threads(|| run(left), || run(right))
    }

    fn each<W, F>(&self, works: Vec<W>) -> Vec<F::Output>
    where
        W: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
        F::Output: Send + 'static,
    {
        on_threads(works, run)
    }
}

fn run<F, Fut>(make: F) -> Fut::Output
where
    F: FnOnce() -> Fut,
    Fut: Future + 'static,
{
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(LocalSet::new().run_until(async {
        match spawn_local(make()).await {
            Ok(output) => output,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }))
}
