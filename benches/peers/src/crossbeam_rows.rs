//! crossbeam: `ArrayQueue` and the bounded channel, both ends spinning.

use crossbeam_channel::{Receiver, Sender, bounded};
use crossbeam_queue::ArrayQueue;

use corelane_bench_harness::{BenchError, Entry, Params, Sample, Tally, one_way, round_trip};

use crate::version::named;

/// Slots, as in every ring of the lane rows.
const CAPACITY: usize = 1_024;

pub(crate) fn entries() -> Vec<Entry> {
    let (queue, channel) = (named("crossbeam-queue"), named("crossbeam-channel"));
    vec![
        Entry::round(("lanes", "one_way_single"), &queue, queue_single),
        Entry::round(("lanes", "one_way_single"), &channel, channel_single),
        Entry::round(("lanes", "round_trip"), &queue, queue_trip),
        Entry::round(("lanes", "round_trip"), &channel, channel_trip),
        Entry::round(("runtime", "mesh_one_way"), &queue, queue_single),
        Entry::round(("runtime", "mesh_one_way"), &channel, channel_single),
    ]
}

fn push(queue: &ArrayQueue<u64>, number: u64) {
    while queue.push(number).is_err() {
        std::hint::spin_loop();
    }
}

fn pop(queue: &ArrayQueue<u64>) -> u64 {
    loop {
        if let Some(number) = queue.pop() {
            return number;
        }
        std::hint::spin_loop();
    }
}

fn queue_single(params: &Params) -> Result<Sample, BenchError> {
    let queue = ArrayQueue::new(CAPACITY);
    one_way(
        params,
        |count| (0..count).for_each(|number| push(&queue, number)),
        |count, tally: &mut Tally| (0..count).for_each(|_| tally.take(pop(&queue))),
    )
}

fn queue_trip(params: &Params) -> Result<Sample, BenchError> {
    let (there, back) = (ArrayQueue::new(CAPACITY), ArrayQueue::new(CAPACITY));
    round_trip(
        params,
        |number| {
            push(&there, number);
            pop(&back)
        },
        |count| (0..count).for_each(|_| push(&back, pop(&there))),
    )
}

fn send(sender: &Sender<u64>, number: u64) {
    while sender.try_send(number).is_err() {
        std::hint::spin_loop();
    }
}

fn receive(receiver: &Receiver<u64>) -> u64 {
    loop {
        if let Ok(number) = receiver.try_recv() {
            return number;
        }
        std::hint::spin_loop();
    }
}

fn channel_single(params: &Params) -> Result<Sample, BenchError> {
    let (sender, receiver) = bounded(CAPACITY);
    one_way(
        params,
        |count| (0..count).for_each(|number| send(&sender, number)),
        |count, tally: &mut Tally| (0..count).for_each(|_| tally.take(receive(&receiver))),
    )
}

fn channel_trip(params: &Params) -> Result<Sample, BenchError> {
    let (there, asked) = bounded(CAPACITY);
    let (reply, back) = bounded(CAPACITY);
    round_trip(
        params,
        |number| {
            send(&there, number);
            receive(&back)
        },
        |count| (0..count).for_each(|_| send(&reply, receive(&asked))),
    )
}
