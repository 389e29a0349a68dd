//! Any sequence of calls on a signal and its feeds answers as one value with a version does.
//!
//! Both ways to keep a value; feeds live on several shards of one thread, some detached, and wait
//! as streams and by futures that are dropped. `PROPTEST_CASES` sets how many sequences are tried.
#![cfg(not(corelane_loom))]

#[path = "../support/rings.rs"]
mod bell;
mod kinds;
#[path = "../support/oracle.rs"]
mod oracle;
mod reader;
mod run;

use corelane_primitives::Signal;
use proptest::collection::vec;
use proptest::prelude::*;
use std::sync::Arc;

const CALLS_MAX: usize = 120;

proptest! {
    #![proptest_config(oracle::sequences(2_000))]

    // proves: S-1
    // proves: S-2
    // proves: S-3
    // proves: S-5
    // proves: S-6
    // proves: S-7
    // proves: S-10
    // proves: S-11
    // proves: W-1
    #[test]
    fn signal_answers_as_its_oracle(
        calls in vec(any::<u32>(), 0..CALLS_MAX),
        is_plain: bool,
    ) {
        if is_plain {
            run::Run::new(Box::new(Signal::plain(0_u64))).go(&calls);
        } else {
            let root = Arc::new(());
            let first = kinds::Token(0, Some(root.clone()));
            run::Run::new(Box::new(Signal::new(first))).go(&calls);
            assert_eq!(Arc::strong_count(&root), 1, "a value was never dropped");
        }
    }
}
