//! Calls between shards.
#![allow(clippy::unwrap_used)]

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use corelane::{Placement, Runtime, SubmitError, shard, shards};

fn run<T: 'static>(count: usize, main: impl Future<Output = T> + 'static) -> T {
    Runtime::builder()
        .placement(Placement::Unpinned(count))
        .run(|| main)
        .unwrap()
}

// proves: RT-8
#[test]
fn call_runs_on_its_shard_and_answers() {
    run(4, async {
        for target in shards().iter() {
            let index = target.index();
            let answer = target
                .submit(move || async move {
                    let here = Rc::new(shard().index());
                    corelane::task::yield_now().await;
                    *here
                })
                .await;
            assert_eq!(answer.unwrap(), index);
        }
    });
}

#[test]
fn a_million_calls_answer_each_with_its_own() {
    run(2, async {
        let there = shards()[1].clone();
        let sum = Arc::new(AtomicU64::new(0));
        for batch in 0..100_u64 {
            let calls: Vec<_> = (0..2_000)
                .map(|number| {
                    let sum = Arc::clone(&sum);
                    let value = batch * 2_000 + number;
                    there.submit(move || async move {
                        sum.fetch_add(value, Ordering::Relaxed);
                        value
                    })
                })
                .collect();
            for (number, call) in calls.into_iter().enumerate() {
                assert_eq!(call.await.unwrap(), batch * 2_000 + number as u64);
            }
        }
        assert_eq!(sum.load(Ordering::Relaxed), (0..200_000).sum());
    });
}

// proves: RT-8
#[test]
fn panic_of_a_call_is_its_answer() {
    run(2, async {
        let there = shards()[1].clone();
        let error = there
            .submit(|| async { panic!("over there") })
            .await
            .unwrap_err();
        assert!(matches!(error, SubmitError::Panicked(_)), "{error}");
        assert_eq!(error.to_string(), "the submitted call panicked: over there");
        assert_eq!(there.submit(|| async { 7 }).await.unwrap(), 7);
    });
}
