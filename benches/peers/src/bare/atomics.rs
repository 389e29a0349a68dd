//! A round trip over two bare atomics: the shortest way there and back between two cores.

use std::sync::atomic::{AtomicU64, Ordering};

use corelane_bench_harness::{BenchError, Params, Sample};

/// One atomic on a cache line of its own (two, since processors fetch lines in pairs).
#[repr(align(128))]
struct Alone(AtomicU64);

impl Alone {
    fn empty() -> Self {
        Self(AtomicU64::new(u64::MAX))
    }

    fn put(&self, number: u64) {
        // Release pairs with the Acquire in `take`.
        self.0.store(number, Ordering::Release);
    }

    /// Waits until `number` has come.
    fn take(&self, number: u64) -> u64 {
        loop {
            let seen = self.0.load(Ordering::Acquire);
            if seen == number {
                return seen;
            }
            std::hint::spin_loop();
        }
    }
}

pub(super) fn round_trip(params: &Params) -> Result<Sample, BenchError> {
    let (there, back) = (Alone::empty(), Alone::empty());
    corelane_bench_harness::round_trip(
        params,
        |number| {
            there.put(number);
            back.take(number)
        },
        |count| (0..count).for_each(|number| back.put(there.take(number))),
    )
}
