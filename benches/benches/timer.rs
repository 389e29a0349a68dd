//! A fresh timer is armed and cancelled beside 100,000 armed ones.

mod rounds;

use criterion::{Criterion, criterion_group, criterion_main};

fn timers(criterion: &mut Criterion) {
    rounds::bench(criterion, "runtime", "timer_insert_cancel");
}

criterion_group!(benches, timers);
criterion_main!(benches);
