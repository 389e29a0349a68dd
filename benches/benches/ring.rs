//! A full ring of integers taken a thousand at a time, and bursts from task to task, on one core.

mod rounds;

use criterion::{Criterion, criterion_group, criterion_main};

fn rings(criterion: &mut Criterion) {
    let rows = [
        "fold_1000",
        "pop_batch_1000",
        "burst_1_one_core",
        "burst_100_one_core",
    ];
    for row in rows {
        rounds::bench(criterion, "rings", row);
    }
}

criterion_group!(benches, rings);
criterion_main!(benches);
