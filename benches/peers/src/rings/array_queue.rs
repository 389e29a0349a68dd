//! crossbeam's `ArrayQueue`, which has no way to wait.

use std::sync::Arc;

use corelane_bench_harness::{Pull, Push, Queue, Shape};
use crossbeam_queue::ArrayQueue;

use super::{Rx, Tx, clones};

type End = Arc<ArrayQueue<u64>>;

pub(crate) struct Crossbeam;

impl Queue for Crossbeam {
    type Producer = Tx<End>;
    type Consumer = Rx<End>;

    fn open(shape: Shape) -> (Vec<Tx<End>>, Rx<End>) {
        let queue = Arc::new(ArrayQueue::new(shape.slots));
        clones((Arc::clone(&queue), queue), shape.producers)
    }
}

impl Push for Tx<End> {
    #[inline]
    fn push(&mut self, value: u64) -> bool {
        self.0.push(value).is_ok()
    }
}

impl Pull for Rx<End> {
    #[inline]
    fn pop(&mut self) -> Option<u64> {
        self.0.pop()
    }
}
