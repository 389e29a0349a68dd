//! tokio's `LocalRuntime`, where the tasks of all peers run.

use tokio::runtime::{Builder, LocalOptions};
use tokio::task::spawn_local;

use corelane_bench_harness::{BenchError, Host};

/// One runtime on the calling thread.
pub(crate) struct TokioOne;

impl Host for TokioOne {
    fn run<F: Future<Output = ()> + 'static>(
        _core: usize,
        tasks: Vec<F>,
        begin: impl FnOnce() + 'static,
    ) -> Result<(), BenchError> {
        let runtime = Builder::new_current_thread()
            .enable_time() // datum-core's feeds of topics need it
            .build_local(LocalOptions::default())
            .map_err(BenchError::io("start tokio"))?;
        runtime.block_on(async move {
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
