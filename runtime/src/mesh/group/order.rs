//! The order of nested groups, and its check in debug builds.
//!
//! A task's rank is the number of the newest group that it makes a call for, 0 for none. It stands
//! in the shard's context while the task of such a call is polled, and a plain call that is made
//! meanwhile takes it along.

use std::future::{Future, poll_fn};
use std::pin::pin;

use crate::shard::Context;

/// A group's number: later ones are larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Rank(pub(super) u64);

/// Puts a rank in place until it is dropped.
struct Ranked(Rank);

impl Ranked {
    fn enter(rank: Rank) -> Self {
        Self(Context::with(|context| context.groups().rank.replace(rank)))
    }
}

impl Drop for Ranked {
    fn drop(&mut self) {
        Context::with(|context| context.groups().rank.set(self.0));
    }
}

/// Carries out a call for a group. In release builds nothing looks at ranks, and none is kept.
pub(in crate::mesh) async fn within<F, Fut>(rank: Rank, call: F) -> Fut::Output
where
    F: FnOnce() -> Fut,
    Fut: Future,
{
    if !cfg!(debug_assertions) {
        return call().await;
    }
    let ranked = Ranked::enter(rank);
    let mut future = pin!(call());
    drop(ranked);
    poll_fn(|cx| {
        let _ranked = Ranked::enter(rank);
        future.as_mut().poll(cx)
    })
    .await
}

/// Checks that a call in the group of `rank` may be made here.
///
/// # Panics
///
/// In debug builds, inside a call in a group that is not older.
pub(super) fn check(context: &Context, rank: Rank) {
    let around = context.groups().rank.get();
    assert!(
        !cfg!(debug_assertions) || rank > around,
        "nested calls take service groups in the order of their making: a call in a group made \
         one in the same or an older group, and two such calls can wait for each other for ever"
    );
}
