//! Which lanes there are.

use crate::settings::Placement;
use crate::shard::{Context, ShardIndex, shards};
use crate::start::Runtime;

/// The pairs of this runtime that have a lane, from and to.
fn pairs() -> Vec<(usize, usize)> {
    Context::with(|context| {
        let directory = context.directory();
        let count = directory.members.len();
        let all = (0..count * count).map(|pair| (pair / count, pair % count));
        all.filter(|&(from, to)| {
            let [from, to] = [from, to].map(ShardIndex::new);
            directory.used_pair(from, to).is_some()
        })
        .collect()
    })
}

// proves: RT-7
#[test]
fn lane_is_made_by_the_first_call_of_its_pair() {
    Runtime::builder()
        .placement(Placement::Unpinned(16))
        .simulate(1, async || {
            assert_eq!(pairs(), []);
            let all = shards();
            all[0].submit(|| async {}).await.unwrap();
            assert_eq!(pairs(), [], "a call to the shard itself needs none");
            all[5].submit(|| async {}).await.unwrap();
            assert_eq!(pairs(), [(0, 5)], "answers need none");
            let (to, from) = (all[3].clone(), all[9].clone());
            let call = from.submit(move || async move { to.submit(|| async {}).await });
            call.await.unwrap().unwrap();
            all[5].submit(|| async {}).await.unwrap();
            assert_eq!(pairs(), [(0, 5), (0, 9), (9, 3)]);
        })
        .unwrap();
}
