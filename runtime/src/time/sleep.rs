//! Waiting for a point in time.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context as TaskContext, Poll, ready};
use std::time::Duration;

use super::wheel::TimerKey;
use super::{Instant, Timers};
use crate::shard::Context;

/// Waits for `duration`, counted from this call.
///
/// Never early; late by at most 4,096 ns, the wheel's tick, beside what the shard's other work
/// takes. A duration that reaches beyond the clock's 584 years never ends. Costs one reading of the
/// clock; the timer is armed at the first poll. See [`Sleep`] for an example.
///
/// # Panics
///
/// Outside a shard.
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    // Not the time of the shard's turn: that may lie far back in a long poll, and the sleep would
    // end early.
    sleep_until(Context::with(|context| context.clock().now()).saturating_add(duration))
}

/// Waits until `deadline`. Ready at once when it is over already.
///
/// # Panics
///
/// The first poll panics outside a shard.
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep {
        deadline,
        state: State::Idle,
    }
}

/// The future of [`sleep`] and [`sleep_until`].
///
/// # Cancel safety
///
/// Dropping it disarms its timer, in constant time.
///
/// ```
/// # use std::time::Duration;
/// # async fn example() {
/// let start = corelane::time::Instant::now();
/// corelane::time::sleep(Duration::from_millis(2)).await;
/// assert!(start.elapsed() >= Duration::from_millis(2));
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a future does nothing until it is awaited"]
pub struct Sleep {
    deadline: Instant,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Not polled yet.
    Idle,
    /// Armed, unless it has fired.
    Armed(Rc<Timers>, TimerKey),
    Over,
}

impl Sleep {
    /// When the sleep ends.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Whether a poll has found the sleep over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Over)
    }

    /// Starts over with another deadline. Who waits for the sleep must poll it again.
    pub fn reset(&mut self, deadline: Instant) {
        self.disarm();
        self.deadline = deadline;
    }

    fn disarm(&mut self) {
        if let State::Armed(timers, key) = std::mem::replace(&mut self.state, State::Idle) {
            timers.disarm(key);
        }
    }
}

impl Future for Sleep {
    type Output = ();

    /// Ready for ever once it is over.
    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<()> {
        match &self.state {
            State::Over => return Poll::Ready(()),
            State::Armed(timers, key) if timers.rearm(*key, cx.waker()) => return Poll::Pending,
            State::Armed(..) => self.state = State::Over,
            State::Idle => match arm(self.deadline, cx) {
                Some((timers, key)) => self.state = State::Armed(timers, key),
                None => {
                    // A loop over deadlines that are over already must let others run too.
                    ready!(Context::poll_budget(cx));
                    self.state = State::Over;
                }
            },
        }
        if self.is_over() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

/// Arms a timer for the task, unless the deadline is over.
fn arm(deadline: Instant, cx: &TaskContext<'_>) -> Option<(Rc<Timers>, TimerKey)> {
    Context::with(|context| {
        let timers = (deadline > context.now()).then(|| context.timers())?;
        let key = timers.arm(deadline, cx.waker().clone());
        Some((Rc::clone(timers), key))
    })
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.disarm();
    }
}
