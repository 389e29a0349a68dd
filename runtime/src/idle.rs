//! When a runtime that drains has nothing left to do.
//!
//! Any shard may look, at any time. Rule: a task is counted as spawned before what led to it is
//! counted as ended or started (both Release), and who looks reads in the opposite order. Model:
//! `tests/loom_idle.rs`.

use crate::inbox::Inbox;
use crate::sync::Counter;

/// Where one shard's work is counted.
#[derive(Clone, Copy)]
pub(crate) struct Books<'a> {
    pub(crate) inbox: &'a Inbox,
    /// Tasks spawned.
    pub(crate) spawned: &'a Counter,
    /// Tasks that ended, published.
    pub(crate) ended: &'a Counter,
}

/// Whether no shard has a task, and none will get one but from outside.
///
/// A task that waits for another shard is live meanwhile. One that ended while this looked may have
/// left another on a shard that was looked at before it: then the second look finds a task more.
pub(crate) fn is_idle<'a, S>(shards: impl Fn() -> S) -> bool
where
    S: Iterator<Item = Books<'a>>,
{
    let look = || shards().map(ended_of_idle);
    look().all(|ended| ended.is_some()) && {
        let before: Vec<_> = look().collect();
        before.iter().all(Option::is_some) && look().eq(before)
    }
}

/// How many tasks have ended on a shard, if it has none that has not.
fn ended_of_idle(books: Books<'_>) -> Option<u64> {
    // The inbox comes first: what has left it is a task already.
    let waits = books.inbox.has_any();
    let ended = books.ended.value_published();
    (!waits && ended == books.spawned.value()).then_some(ended)
}
