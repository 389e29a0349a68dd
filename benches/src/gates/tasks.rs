//! Tasks of one shard: making, ending, yielding, waking and keeping them.

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::task::{Poll, Waker};

use corelane::task::yield_now;
use corelane::{JoinError, spawn};
use corelane_bench_harness::{BenchError, Tally};

use super::Hold;
use super::shard::on_one_shard;
use crate::ours;

/// An operation: a task is spawned, runs, and is joined.
pub(super) fn spawn_join(ops: u64, hold: Hold) -> Result<(), BenchError> {
    on_one_shard(move || async move {
        let mut tally = Tally::default();
        for number in 0..ops {
            tally.take(spawn(async move { number }).await.map_err(ours)?);
        }
        hold();
        tally.check(ops)
    })
}

/// An operation: the only task yields and runs again.
pub(super) fn yields(ops: u64, hold: Hold) -> Result<(), BenchError> {
    on_one_shard(move || async move {
        // Counts the polls of the task itself, so that a yield which does not yield is seen.
        let polls = Rc::new(Cell::new(0));
        let count = Rc::clone(&polls);
        let mut yielding = std::pin::pin!(async move {
            for _ in 0..ops {
                yield_now().await;
            }
        });
        poll_fn(|cx| {
            count.set(count.get() + 1);
            yielding.as_mut().poll(cx)
        })
        .await;
        hold();
        BenchError::check("polls", ops + 1, polls.get())
    })
}

/// An operation: a task clones its waker, wakes itself through the clone, and runs again.
pub(super) fn wake_self(ops: u64, hold: Hold) -> Result<(), BenchError> {
    on_one_shard(move || async move {
        let mut polls = 0;
        poll_fn(|cx| {
            polls += 1;
            if polls > ops {
                return Poll::Ready(());
            }
            let waker = cx.waker().clone();
            waker.wake();
            Poll::Pending
        })
        .await;
        hold();
        BenchError::check("polls", ops + 1, polls)
    })
}

/// Two tasks that take turns.
#[derive(Debug, Default)]
struct Baton {
    waits: RefCell<Option<Waker>>,
    wakes: Cell<u64>,
}

impl Baton {
    /// Wakes the other task and waits for it, until both together have woken `ops` times.
    async fn pass(&self, ops: u64) {
        poll_fn(|cx| {
            let other = self.waits.replace(Some(cx.waker().clone()));
            if let Some(other) = other {
                other.wake();
                self.wakes.set(self.wakes.get() + 1);
            }
            if self.wakes.get() < ops {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
    }
}

/// An operation: a task wakes another one of its shard, which runs.
pub(super) fn wake_other(ops: u64, hold: Hold) -> Result<(), BenchError> {
    on_one_shard(move || async move {
        let baton = Rc::new(Baton::default());
        let other = Rc::clone(&baton);
        let task = spawn(async move { other.pass(ops).await });
        baton.pass(ops).await;
        task.await.map_err(ours)?;
        hold();
        // The second to end wakes the first one, which has ended, once more.
        BenchError::check("wakes", ops + 1, baton.wakes.get())
    })
}

/// An operation: a call to the shard that it comes from.
pub(super) fn submit_self(ops: u64, hold: Hold) -> Result<(), BenchError> {
    on_one_shard(move || async move {
        let here = corelane::shard();
        let mut tally = Tally::default();
        for number in 0..ops {
            let answer = here.submit(move || async move { number });
            tally.take(answer.await.map_err(ours)?);
        }
        hold();
        tally.check(ops)
    })
}

/// An operation: a task is spawned and polled, kept asleep beside all others, and aborted.
pub(super) fn held(ops: u64, hold: Hold) -> Result<(), BenchError> {
    on_one_shard(move || async move {
        let polled = Rc::new(Cell::new(0));
        let mut tasks = Vec::with_capacity(ops as usize);
        for _ in 0..ops {
            let polled = Rc::clone(&polled);
            tasks.push(spawn(async move {
                polled.set(polled.get() + 1);
                pending::<()>().await;
            }));
        }
        while polled.get() < ops {
            yield_now().await;
        }
        hold();
        let mut cancelled = 0;
        for task in tasks {
            task.abort();
            cancelled += u64::from(matches!(task.await, Err(JoinError::Cancelled)));
        }
        BenchError::check("tasks that were aborted", ops, cancelled)
    })
}
