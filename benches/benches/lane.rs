//! A lane with both ends on one thread: what the calls themselves take, without a cache line that
//! crosses. Between two cores see the suite `lanes`.

use std::hint::black_box;

use corelane_bench_harness::Tally;
use corelane_primitives::{Consumer, Producer, lane};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Slots of every lane.
const CAPACITY: usize = 1_024;
/// Values that are moved together.
const BATCH: u64 = 64;

type Operation = fn(&mut Checked);

/// A lane and what came out of it so far, which must be `0..next`.
struct Checked {
    producer: Producer<u64>,
    consumer: Consumer<u64>,
    next: u64,
    tally: Tally,
}

impl Checked {
    fn new() -> Self {
        let (producer, consumer) = lane(CAPACITY);
        Self {
            producer,
            consumer,
            next: 0,
            tally: Tally::default(),
        }
    }

    fn push_pop(&mut self) {
        if self.producer.push(self.next).is_ok() {
            self.next += 1;
        }
        if let Some(number) = self.consumer.pop() {
            self.tally.take(number);
        }
    }

    fn push_batch(&mut self) {
        let mut numbers = self.next..self.next + BATCH;
        self.next += self.producer.push_batch(&mut numbers) as u64;
        self.read_chunk();
    }

    fn write_chunk(&mut self) {
        let mut chunk = self.producer.write_chunk(BATCH as usize);
        while chunk.push(self.next).is_ok() {
            self.next += 1;
        }
        chunk.commit();
        self.read_chunk();
    }

    fn read_chunk(&mut self) {
        let chunk = self.consumer.read_chunk(BATCH as usize);
        chunk.for_each(|number| self.tally.take(number));
    }
}

fn moves(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("lane");
    let rows: [(&str, u64, Operation); 3] = [
        ("push_pop", 1, Checked::push_pop),
        ("push_batch_64", BATCH, Checked::push_batch),
        ("write_chunk_64", BATCH, Checked::write_chunk),
    ];
    for (row, values, operation) in rows {
        group.throughput(Throughput::Elements(values));
        group.bench_function(row, |bencher| {
            let mut checked = Checked::new();
            let mut rounds = 0;
            bencher.iter(|| {
                operation(&mut checked);
                rounds += 1;
            });
            let came = checked.tally.check(rounds * values);
            came.expect("each value comes once and in order");
        });
    }
    group.finish();
}

/// Values of 256 bytes: the copies in and out are most of it.
fn large_values(criterion: &mut Criterion) {
    criterion.bench_function("lane/push_pop_256_bytes", |bencher| {
        let (mut producer, mut consumer) = lane(CAPACITY);
        let mut next = 0_u64;
        bencher.iter(|| {
            let mut value = [0_u64; 32];
            value[31] = next;
            assert!(producer.push(black_box(value)).is_ok());
            assert_eq!(consumer.pop().map(|value| value[31]), Some(next));
            next += 1;
        });
    });
}

fn making(criterion: &mut Criterion) {
    criterion.bench_function("lane/make_and_drop_64_slots", |bencher| {
        bencher.iter(|| {
            let (producer, consumer) = lane::<u64>(64);
            assert_eq!((producer.slots(), consumer.len()), (64, 0));
        });
    });
}

criterion_group!(benches, moves, large_values, making);
criterion_main!(benches);
