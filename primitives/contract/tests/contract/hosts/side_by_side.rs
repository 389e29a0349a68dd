//! Threads that end together.

use std::panic::resume_unwind;
use std::thread;

/// Calls `run` for each of `works`, on a thread of its own.
pub(super) fn on_threads<W: Send, T: Send>(works: Vec<W>, run: impl Fn(W) -> T + Sync) -> Vec<T> {
    let run = &run;
    thread::scope(|scope| {
        let threads = works.into_iter().map(|work| scope.spawn(move || run(work)));
        let threads: Vec<_> = threads.collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined
            .map(|joined| joined.unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    })
}

/// Calls both, each on a thread of its own.
pub(super) fn on_two_threads<L, R>(
    left: impl FnOnce() -> L + Send,
    right: impl FnOnce() -> R + Send,
) -> (L, R)
where
    L: Send,
    R: Send,
{
    thread::scope(|scope| {
        let (left, right) = (scope.spawn(left), scope.spawn(right));
        match (left.join(), right.join()) {
            (Ok(left), Ok(right)) => (left, right),
            (Err(panic), _) | (_, Err(panic)) => resume_unwind(panic),
        }
    })
}
