//! Lanes alone, without a runtime: both ends spin, as the rings of the peers do.

use corelane_bench_harness::{BenchError, Entry, Params, Sample, Tally, one_way, round_trip};
use corelane_primitives::{Consumer, Producer, lane};

use crate::WHO;

/// Slots of every lane, as in every ring of these rows.
const CAPACITY: usize = 1_024;
/// Elements moved at a time in the batch row.
const BATCH: usize = 64;

pub(crate) fn entries() -> Vec<Entry> {
    vec![
        Entry::round(("lanes", "one_way_single"), WHO, single),
        Entry::round(("lanes", "one_way_batch"), WHO, batch),
        Entry::round(("lanes", "round_trip"), WHO, trip),
    ]
}

fn push(producer: &mut Producer<u64>, number: u64) {
    while producer.push(number).is_err() {
        std::hint::spin_loop();
    }
}

fn pop(consumer: &mut Consumer<u64>) -> u64 {
    loop {
        if let Some(number) = consumer.pop() {
            return number;
        }
        std::hint::spin_loop();
    }
}

fn single(params: &Params) -> Result<Sample, BenchError> {
    let (mut producer, mut consumer) = lane(CAPACITY);
    one_way(
        params,
        move |count| (0..count).for_each(|number| push(&mut producer, number)),
        move |count, tally: &mut Tally| (0..count).for_each(|_| tally.take(pop(&mut consumer))),
    )
}

fn batch(params: &Params) -> Result<Sample, BenchError> {
    let (mut producer, mut consumer) = lane(CAPACITY);
    let produce = move |count: u64| {
        let mut next = 0;
        while next < count {
            let wanted = BATCH.min((count - next) as usize);
            let sent = producer.push_batch(&mut (next..next + wanted as u64));
            if sent == 0 {
                std::hint::spin_loop();
            }
            next += sent as u64;
        }
    };
    let consume = move |count: u64, tally: &mut Tally| {
        while tally.count() < count {
            let chunk = consumer.read_chunk(BATCH);
            if chunk.len() == 0 {
                std::hint::spin_loop();
            }
            chunk.for_each(|number| tally.take(number));
        }
    };
    one_way(params, produce, consume)
}

fn trip(params: &Params) -> Result<Sample, BenchError> {
    let (mut there, mut asked) = lane(CAPACITY);
    let (mut reply, mut back) = lane(CAPACITY);
    round_trip(
        params,
        move |number| {
            push(&mut there, number);
            pop(&mut back)
        },
        move |count| (0..count).for_each(|_| push(&mut reply, pop(&mut asked))),
    )
}
