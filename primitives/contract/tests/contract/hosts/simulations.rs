//! Two simulated shards, over seeds.

use std::cell::Cell;
use std::future::Future;

use corelane::{Placement, Runtime, shards};

use super::shards::fail;
use super::{Host, PLACES};

/// In how many orders of events each fact is tried.
const SEEDS: u64 = 16;

/// Simulated shards, from each seed in turn.
#[derive(Debug, Default)]
pub(crate) struct Simulations {
    seed: Cell<u64>,
}

impl Host for Simulations {
    fn run(self, fact: fn(&Self)) {
        for seed in 0..SEEDS {
            // Shown when the fact fails.
            eprintln!("seed {seed}");
            self.seed.set(seed);
            fact(&self);
        }
    }

    fn pair<L, LF, R, RF>(&self, left: L, right: R) -> (LF::Output, RF::Output)
    where
        L: FnOnce() -> LF + Send + 'static,
        LF: Future + 'static,
        LF::Output: Send + 'static,
        R: FnOnce() -> RF + Send + 'static,
        RF: Future + 'static,
        RF::Output: Send + 'static,
    {
        let runtime = Runtime::builder().placement(Placement::Unpinned(2));
        let simulated = runtime.simulate(self.seed.get(), || async {
            let right = shards()[1].submit(right);
            let left = left().await;
            (left, right.await.unwrap_or_else(|error| fail(error)))
        });
        simulated.unwrap().0
    }

    fn each<W, F>(&self, works: Vec<W>) -> Vec<F::Output>
    where
        W: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
        F::Output: Send + 'static,
    {
        let runtime = Runtime::builder().placement(Placement::Unpinned(PLACES));
        let simulated = runtime.simulate(self.seed.get(), || async {
            let shards = shards();
            let calls = works.into_iter().enumerate();
            let calls: Vec<_> = calls.map(|(at, work)| shards[at].submit(work)).collect();
            let mut outputs = Vec::new();
            for call in calls {
                outputs.push(call.await.unwrap_or_else(|error| fail(error)));
            }
            outputs
        });
        simulated.unwrap().0
    }

    fn count(&self, full: u64) -> u64 {
        full.div_ceil(50)
    }
}
