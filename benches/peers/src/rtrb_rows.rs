//! rtrb: the SPSC ring, single and in chunks; both ends spin.

use corelane_bench_harness::{BenchError, Entry, Params, Sample, Tally, one_way, round_trip};
use rtrb::{Consumer, Producer, RingBuffer};

use crate::version::named;

/// Slots of every ring in the lane rows.
const CAPACITY: usize = 1_024;
/// Elements moved at a time in the batch row.
const BATCH: usize = 64;

pub(crate) fn entries() -> Vec<Entry> {
    let who = named("rtrb");
    vec![
        Entry::round(("lanes", "one_way_single"), &who, single),
        Entry::round(("lanes", "one_way_batch"), &who, batch),
        Entry::round(("lanes", "round_trip"), &who, trip),
        Entry::round(("runtime", "mesh_one_way"), &who, single),
    ]
}

fn push(producer: &mut Producer<u64>, number: u64) {
    while producer.push(number).is_err() {
        std::hint::spin_loop();
    }
}

fn pop(consumer: &mut Consumer<u64>) -> u64 {
    loop {
        if let Ok(number) = consumer.pop() {
            return number;
        }
        std::hint::spin_loop();
    }
}

fn single(params: &Params) -> Result<Sample, BenchError> {
    let (mut producer, mut consumer) = RingBuffer::new(CAPACITY);
    one_way(
        params,
        move |count| (0..count).for_each(|number| push(&mut producer, number)),
        move |count, tally: &mut Tally| (0..count).for_each(|_| tally.take(pop(&mut consumer))),
    )
}

fn batch(params: &Params) -> Result<Sample, BenchError> {
    let (mut producer, mut consumer) = RingBuffer::new(CAPACITY);
    let produce = move |count: u64| {
        let mut next = 0;
        while next < count {
            let room = producer.slots().min(BATCH).min((count - next) as usize);
            if room == 0 {
                std::hint::spin_loop();
                continue;
            }
            let chunk = producer.write_chunk_uninit(room).expect("slots() said so");
            next += chunk.fill_from_iter(next..) as u64;
        }
    };
    let consume = move |count: u64, tally: &mut Tally| {
        while tally.count() < count {
            let filled = consumer.slots().min(BATCH);
            if filled == 0 {
                std::hint::spin_loop();
                continue;
            }
            let chunk = consumer.read_chunk(filled).expect("slots() said so");
            let (first, second) = chunk.as_slices();
            first
                .iter()
                .chain(second)
                .for_each(|number| tally.take(*number));
            chunk.commit_all();
        }
    };
    one_way(params, produce, consume)
}

fn trip(params: &Params) -> Result<Sample, BenchError> {
    let (mut there, mut asked) = RingBuffer::new(CAPACITY);
    let (mut reply, mut back) = RingBuffer::new(CAPACITY);
    round_trip(
        params,
        move |number| {
            push(&mut there, number);
            pop(&mut back)
        },
        move |count| (0..count).for_each(|_| push(&mut reply, pop(&mut asked))),
    )
}
