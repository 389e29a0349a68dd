//! A shard of ours, where our tasks run.

use corelane::IdlePolicy;
use corelane_bench_harness::{BenchError, Host};

use crate::ours;
use crate::tasks::on_shard;

/// Tasks on a shard.
pub(crate) struct Shard;

impl Host for Shard {
    fn run<F: Future<Output = ()> + 'static>(
        core: usize,
        tasks: Vec<F>,
        begin: impl FnOnce() + 'static,
    ) -> Result<(), BenchError> {
        on_shard(core, IdlePolicy::default(), move || async move {
            let tasks: Vec<_> = tasks.into_iter().map(corelane::spawn).collect();
            begin();
            for task in tasks {
                task.await.map_err(ours)?;
            }
            Ok(())
        })
    }

    async fn yield_now() {
        corelane::task::yield_now().await;
    }
}
