//! tokio's `LocalSet` on a current-thread runtime, where the tasks of all peers run.

use tokio::runtime::Builder;
use tokio::task::{LocalSet, spawn_local};

use corelane_bench_harness::{BenchError, Host};

pub(crate) struct TokioLocal;

impl Host for TokioLocal {
    fn run<F: Future<Output = ()> + 'static>(
        _core: usize,
        tasks: Vec<F>,
        begin: impl FnOnce() + 'static,
    ) -> Result<(), BenchError> {
        let runtime = Builder::new_current_thread()
            .build()
            .map_err(BenchError::io("start tokio"))?;
        LocalSet::new().block_on(&runtime, async move {
            let tasks: Vec<_> = tasks.into_iter().map(spawn_local).collect();
            begin();
            for task in tasks {
                task.await.map_err(BenchError::runtime("tokio"))?;
            }
            Ok(())
        })
    }

    async fn yield_now() {
        tokio::task::yield_now().await;
    }
}
