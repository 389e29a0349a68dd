//! A future with a deadline.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;

use super::{Instant, Sleep, sleep, sleep_until};

/// Waits for `future` for at most `duration`, counted from this call.
///
/// The future is polled before the time is looked at, so one that is ready is never refused. Costs
/// what [`sleep`] costs.
///
/// # Errors
///
/// The output is [`Elapsed`] when the time was over first; the future is dropped with the
/// [`Timeout`].
///
/// # Panics
///
/// Outside a shard.
///
/// # Cancel safety
///
/// As the future's own.
///
/// ```
/// # use std::time::Duration;
/// # use corelane::time::{Elapsed, timeout};
/// # async fn example() {
/// let never = std::future::pending::<()>();
/// assert_eq!(timeout(Duration::from_millis(1), never).await, Err(Elapsed));
/// # }
/// ```
pub fn timeout<F: Future>(duration: Duration, future: F) -> Timeout<F> {
    Timeout {
        future,
        sleep: sleep(duration),
    }
}

/// Waits for `future` until `deadline`; otherwise as [`timeout`].
///
/// # Errors
///
/// As [`timeout`].
pub fn timeout_at<F: Future>(deadline: Instant, future: F) -> Timeout<F> {
    Timeout {
        future,
        sleep: sleep_until(deadline),
    }
}

/// The time of a [`timeout`] was over before its future was ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the time was over before the future was ready")]
pub struct Elapsed;

pin_project! {
    /// The future of [`timeout`] and [`timeout_at`].
    #[derive(Debug)]
    #[must_use = "a future does nothing until it is awaited"]
    pub struct Timeout<F> {
        #[pin]
        future: F,
        sleep: Sleep,
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Poll::Ready(output) = this.future.poll(cx) {
            return Poll::Ready(Ok(output));
        }
        Pin::new(this.sleep).poll(cx).map(|()| Err(Elapsed))
    }
}
