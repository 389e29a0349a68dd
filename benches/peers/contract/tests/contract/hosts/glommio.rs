//! A local executor of glommio on each of some threads, the future a local task there.

use glommio::{LocalExecutorBuilder, Placement, spawn_local};

use super::Host;
use super::side_by_side::{on_threads, on_two_threads};

/// What an executor keeps for storage, which no fact uses: glommio's default is 10 MiB.
const IO_BYTES: usize = 1 << 16;

#[derive(Debug)]
pub(crate) struct Glommio;

impl Host for Glommio {
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

    /// Less often than on a plain thread, since three rings are made for each executor.
    fn count(&self, full: u64) -> u64 {
        full.div_ceil(4)
    }
}

fn run<F, Fut>(make: F) -> Fut::Output
where
    F: FnOnce() -> Fut,
    Fut: Future + 'static,
    Fut::Output: 'static,
{
    // A kernel that refuses io_uring fails the test: who runs it there does not learn otherwise
    // that it showed nothing.
    let executor = LocalExecutorBuilder::new(Placement::Unbound)
        .io_memory(IO_BYTES)
        .make()
        .expect("glommio starts: it wants io_uring, and 512 KiB of locked memory an executor");
    executor.run(async { spawn_local(make()).await })
}
