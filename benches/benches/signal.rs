//! Signals on one thread: what a read, a set and a look of a feed take, without a cache line that
//! crosses. Between threads see the suite `primitives`.

use std::hint::black_box;

use corelane_primitives::Signal;
use criterion::{Criterion, criterion_group, criterion_main};

/// A value of the size that a plain signal has at most.
type Large = [u64; 8];

macro_rules! rows {
    ($criterion:expr, $group:literal, $make:expr, $value:expr, $number:expr) => {{
        let mut group = $criterion.benchmark_group($group);
        let (value, number) = ($value, $number);
        group.bench_function("get", |bencher| {
            let signal = $make(value(7));
            bencher.iter(|| assert_eq!(number(&*black_box(&signal).get()), 7));
        });
        group.bench_function("replica_get", |bencher| {
            let mut replica = $make(value(7)).replica();
            bencher.iter(|| assert_eq!(number(&*black_box(&mut replica).get()), 7));
        });
        group.bench_function("replica_look", |bencher| {
            let mut replica = $make(value(7)).replica();
            bencher.iter(|| assert_eq!(number(&**black_box(&mut replica).look()), 7));
        });
        group.bench_function("replica_get_after_set", |bencher| {
            let signal = $make(value(0));
            let mut replica = signal.replica();
            let mut next = 0;
            bencher.iter(|| {
                next += 1;
                assert!(signal.set(value(black_box(next))).is_ok());
                assert_eq!(number(&*replica.get()), next);
            });
        });
        group.bench_function("get_cloned", |bencher| {
            let signal = $make(value(7));
            bencher.iter(|| assert_eq!(number(&black_box(&signal).get_cloned()), 7));
        });
        group.bench_function("read", |bencher| {
            let signal = $make(value(7));
            bencher.iter(|| assert_eq!(black_box(&signal).read(number), 7));
        });
        group.bench_function("set", |bencher| {
            let signal = $make(value(0));
            let mut next = 0;
            bencher.iter(|| {
                next += 1;
                assert!(signal.set(value(black_box(next))).is_ok());
            });
            assert_eq!(
                (signal.version().number(), signal.read(number)),
                (next, next)
            );
        });
        group.bench_function("set_and_try_next", |bencher| {
            let signal = $make(value(0));
            let mut feed = signal.changes();
            assert_eq!(feed.try_next().map(|value| number(&value)), Ok(0));
            let mut next = 0;
            bencher.iter(|| {
                next += 1;
                assert!(signal.set(value(black_box(next))).is_ok());
                assert_eq!(feed.try_next().map(|value| number(&value)), Ok(next));
            });
            assert_eq!(feed.stats().delivered, next + 1);
        });
        group.finish();
    }};
}

fn plain(criterion: &mut Criterion) {
    let (value, number) = (|number: u64| number, |value: &u64| *value);
    rows!(
        criterion,
        "signal/plain_8_bytes",
        Signal::plain,
        value,
        number
    );
    let value = |number: u64| -> Large { [number; 8] };
    let number = |value: &Large| value[7];
    rows!(
        criterion,
        "signal/plain_64_bytes",
        Signal::plain,
        value,
        number
    );
}

fn shared(criterion: &mut Criterion) {
    let (value, number) = (|number: u64| number, |value: &u64| *value);
    rows!(criterion, "signal/shared", Signal::new, value, number);
}

criterion_group!(benches, plain, shared);
criterion_main!(benches);
