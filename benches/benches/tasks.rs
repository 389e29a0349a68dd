//! Tasks of one shard: spawned and joined, and yielding.

mod rounds;

use criterion::{Criterion, criterion_group, criterion_main};

fn tasks(criterion: &mut Criterion) {
    for row in ["spawn_join", "yield"] {
        rounds::bench(criterion, "runtime", row);
    }
}

criterion_group!(benches, tasks);
criterion_main!(benches);
