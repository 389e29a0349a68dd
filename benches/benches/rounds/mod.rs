//! Rows of the suites as criterion benchmarks: the same checked rounds, with criterion's statistics
//! and its comparison with the run before.

use std::sync::LazyLock;
use std::time::Duration;

use corelane_bench_harness::{Cores, Params, Work};
use criterion::Criterion;

/// Read before the first round: a round may pin the thread that runs it, and with it what that
/// thread may use.
static CORES: LazyLock<Cores> =
    LazyLock::new(|| Cores::allowed().expect("the rows take two cores"));

/// Benchmarks a row of ours whose value is the wall time of an operation on one shard.
///
/// # Panics
///
/// When there is no such row, or its round fails: a wrong result has no time.
pub(crate) fn bench(criterion: &mut Criterion, suite: &str, row: &str) {
    let mut entries = corelane_benches::entries().into_iter();
    let entry = entries
        .find(|entry| entry.suite == suite && entry.row == row)
        .expect("the suite has the row");
    let Work::Round(round) = entry.work else {
        panic!("{suite}/{row} serves a client, and has no round");
    };
    let cores = *CORES;
    criterion.bench_function(&format!("{suite}/{row}"), |bencher| {
        bencher.iter_custom(|ops| {
            let params = Params {
                ops,
                shards: 1,
                cores,
            };
            let sample = round(&params).expect("the round checks its result");
            Duration::from_nanos((sample.value * ops as f64) as u64)
        });
    });
}
