//! Futures of no executor: giving way, giving up, and counting polls.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

/// Lets whatever else is ready go first, once.
pub(crate) async fn give_way() {
    let mut gave_way = false;
    poll_fn(|cx| {
        if gave_way {
            return Poll::Ready(());
        }
        gave_way = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Drops `future` after so many polls that were not ready; none drops it before its first.
pub(crate) async fn give_up_after<F: Future>(polls: u64, future: F) -> Option<F::Output> {
    if polls == 0 {
        return None;
    }
    let mut future = pin!(future);
    let mut left = polls;
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => {
            left -= 1;
            if left == 0 {
                return Poll::Ready(None);
            }
            Poll::Pending
        }
    })
    .await
}

/// Awaits `future` and tells how often it was polled.
pub(crate) async fn count_polls<F: Future>(future: F) -> (F::Output, u64) {
    let mut future = pin!(future);
    let mut polls = 0;
    poll_fn(|cx| {
        polls += 1;
        future.as_mut().poll(cx).map(|output| (output, polls))
    })
    .await
}

/// Awaits `future`, and raises `flag` when it has to wait.
pub(crate) async fn flag_waiting<F: Future>(flag: &AtomicBool, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        let poll = future.as_mut().poll(cx);
        if poll.is_pending() {
            flag.store(true, Ordering::Release);
        }
        poll
    })
    .await
}

/// Waits until `flag` is up, without a waker: whoever raises it knows of none.
pub(crate) async fn until_raised(flag: &AtomicBool) {
    until(|| flag.load(Ordering::Acquire)).await;
}

/// Waits until `is_so`, without a waker.
pub(crate) async fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        // Who makes it so may need this processor.
        std::thread::yield_now();
        give_way().await;
    }
}

/// Polls both until each is ready. On one task, so that one waker serves both.
pub(crate) async fn both<A: Future, B: Future>(left: A, right: B) -> (A::Output, B::Output) {
    /// Keeps what a future ended in.
    fn step<F: Future>(future: Pin<&mut F>, output: &mut Option<F::Output>, cx: &mut Context<'_>) {
        if output.is_none()
            && let Poll::Ready(ready) = future.poll(cx)
        {
            *output = Some(ready);
        }
    }
    let (mut left, mut right) = (pin!(left), pin!(right));
    let (mut left_output, mut right_output) = (None, None);
    poll_fn(|cx| {
        step(left.as_mut(), &mut left_output, cx);
        step(right.as_mut(), &mut right_output, cx);
        match (left_output.take(), right_output.take()) {
            (Some(left), Some(right)) => Poll::Ready((left, right)),
            (left, right) => {
                (left_output, right_output) = (left, right);
                Poll::Pending
            }
        }
    })
    .await
}
