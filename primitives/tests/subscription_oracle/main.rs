//! Any sequence of calls on a subscription and its feeds answers as a value, a bounded queue a feed
//! and a line of those who wait do.
//!
//! All policies; feeds live on several shards of one thread, some detached, and wait as streams and
//! by futures that are dropped; changes wait, are polled late, and are dropped in every state that
//! they have. `PROPTEST_CASES` sets how many sequences are tried.
#![cfg(not(corelane_loom))]

#[path = "../support/rings.rs"]
mod bell;
mod face;
mod line;
#[path = "../support/oracle.rs"]
mod oracle;
mod reader;
mod run;

use corelane_primitives::Overflow;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::sync::Arc;

const CALLS_MAX: usize = 120;
const POLICIES: [Overflow; 4] = [
    Overflow::Backpressure,
    Overflow::DropNew,
    Overflow::DropOldest,
    Overflow::Fail,
];

proptest! {
    #![proptest_config(oracle::sequences(2_000))]

    // proves: S-1
    // proves: S-2
    // proves: S-4
    // proves: S-5
    // proves: S-6
    // proves: S-7
    // proves: S-9
    // proves: S-10
    // proves: S-11
    // proves: W-1
    #[test]
    fn subscription_answers_as_its_oracle(
        overflow in select(&POLICIES[..]),
        capacity in 1..6_usize,
        calls in vec(any::<u32>(), 0..CALLS_MAX),
    ) {
        let root = Arc::new(());
        run::Run::new(root.clone(), capacity, overflow).go(&calls);
        assert_eq!(Arc::strong_count(&root), 1, "a value was never dropped");
    }
}
