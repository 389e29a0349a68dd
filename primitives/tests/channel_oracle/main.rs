//! Any sequence of calls on a channel answers as a bounded queue and a line of those who wait do.
//!
//! Futures are polled at any time and dropped in every state that they have; each step says which
//! of them are woken, and that no other is. `PROPTEST_CASES` sets how many sequences are tried.
#![cfg(not(corelane_loom))]

#[path = "../support/rings.rs"]
mod bell;
mod line;
#[path = "../support/oracle.rs"]
mod oracle;
mod run;
#[path = "../support/settle.rs"]
mod settle;

use corelane_primitives::channel;
use proptest::collection::vec;
use proptest::prelude::*;
use std::sync::Arc;

const CALLS_MAX: usize = 200;

proptest! {
    #![proptest_config(oracle::sequences(5_000))]

    // proves: C-1
    // proves: C-3
    // proves: C-4
    // proves: C-5
    // proves: C-6
    // proves: W-1
    #[test]
    fn channel_answers_as_its_oracle(
        capacity in 1..7_usize,
        calls in vec(any::<u32>(), 0..CALLS_MAX),
    ) {
        let root = Arc::new(());
        {
            let (sender, receiver) = channel(capacity);
            let mut run = run::Run::new(&sender, receiver, root.clone());
            for &bits in &calls {
                run.step(bits);
            }
            run.end();
        }
        assert_eq!(Arc::strong_count(&root), 1, "a value was never dropped");
    }
}
