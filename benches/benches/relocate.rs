//! The `Arc` on one thread: what its calls themselves take, without a cache line that crosses.
//! Between two cores and against its peers see the suite `thread_aware`.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use thread_aware::{
    Arc, PerCore, ThreadAware,
    affinity::{Affinity, pinned_affinities},
};

type Handle = Arc<usize, PerCore>;

/// Two cores, and a handle at the first with values 0 there and 1 at the second.
fn visited() -> ([Affinity; 2], Handle) {
    let cores = pinned_affinities(&[2]);
    let cores = [cores[0], cores[1]];
    let mut handle = Handle::with_value(0, || 1);
    handle.relocate(Some(cores[0]), cores[1]);
    assert_eq!(*handle, 1);
    handle.relocate(Some(cores[1]), cores[0]);
    assert_eq!(*handle, 0);
    (cores, handle)
}

fn relocations(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("relocate");
    group.bench_function("same", |bencher| {
        let (cores, mut handle) = visited();
        bencher.iter(|| black_box(&mut handle).relocate(Some(cores[0]), black_box(cores[0])));
        assert_eq!(*handle, 0);
    });
    group.bench_function("hit", |bencher| {
        let (cores, mut handle) = visited();
        let mut at = 0;
        bencher.iter(|| {
            let from = at;
            at = 1 - at;
            black_box(&mut handle).relocate(Some(cores[from]), black_box(cores[at]));
        });
        assert_eq!((*handle, Arc::strong_count(&handle)), (at, 1));
    });
    group.bench_function("hit_beside_others", |bencher| {
        let (cores, mut handle) = visited();
        let mut other = handle.clone();
        other.relocate(Some(cores[0]), cores[1]);
        let _stays = handle.clone();
        let mut at = 0;
        bencher.iter(|| {
            let from = at;
            at = 1 - at;
            black_box(&mut handle).relocate(Some(cores[from]), black_box(cores[at]));
        });
        assert_eq!((*handle, Arc::strong_count(&handle)), (at, 2));
    });
    group.bench_function("miss", |bencher| {
        let (cores, _) = visited();
        bencher.iter_batched_ref(
            || Handle::with_value(0, || 1),
            |handle| {
                handle.relocate(Some(cores[0]), black_box(cores[1]));
                assert_eq!(**handle, 1);
            },
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

fn handles(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("handle");
    group.bench_function("clone_drop", |bencher| {
        let (_, handle) = visited();
        bencher.iter(|| drop(black_box(black_box(&handle).clone())));
        assert_eq!(Arc::strong_count(&handle), 1);
    });
    group.bench_function("new_drop", |bencher| {
        bencher.iter(|| {
            let handle = Handle::with_value(0, || 1);
            assert_eq!(**black_box(&handle), 0);
        });
    });
    group.finish();
}

criterion_group!(benches, relocations, handles);
criterion_main!(benches);
