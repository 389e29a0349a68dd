//! Relocations, clones and drops of one thread, and what making a lineage takes.

mod rounds;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use thread_aware::{Arc, PerCore, ThreadAware, affinity::pinned_affinities};

fn handles(criterion: &mut Criterion) {
    for row in ["same", "hit", "tree_hit", "miss", "clone_drop_1"] {
        rounds::bench(criterion, "thread_aware", row);
    }
}

fn lineages(criterion: &mut Criterion) {
    let cores = pinned_affinities(&[2]);
    let mut group = criterion.benchmark_group("thread_aware");
    group.bench_function("make_and_drop", |bencher| {
        bencher.iter(|| {
            let handle = Arc::<u64, PerCore>::new(|| 7);
            assert_eq!(**black_box(&handle), 7);
        });
    });
    group.bench_function("make_visit_and_drop", |bencher| {
        bencher.iter(|| {
            let mut handle = Arc::<u64, PerCore>::new(|| 7);
            black_box(&mut handle).relocate(Some(cores[0]), cores[1]);
            assert_eq!(*handle, 7);
        });
    });
    group.finish();
}

criterion_group!(benches, handles, lineages);
criterion_main!(benches);
