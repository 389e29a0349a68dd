//! The one shard that a row runs on.

use std::future::Future;
use std::time::Duration;

use corelane::{Driver, IdlePolicy, Placement, Runtime};
use corelane_bench_harness::BenchError;

use crate::ours;

/// Far more than a row takes, also where every instruction is counted: else a slow machine would
/// poll fewer tasks a turn, and an operation would cost more there.
const BUDGET: Duration = Duration::from_secs(600);

/// Runs `main` on one spinning shard on epoll, since callgrind does not know io_uring.
pub(super) fn on_one_shard<Fut>(main: impl FnOnce() -> Fut + 'static) -> Result<(), BenchError>
where
    Fut: Future<Output = Result<(), BenchError>> + 'static,
{
    Runtime::builder()
        .placement(Placement::Unpinned(1))
        .driver(Driver::Epoll)
        .idle(IdlePolicy::Spin)
        .task_budget(BUDGET)
        .run(main)
        .map_err(ours)?
}
