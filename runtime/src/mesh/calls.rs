//! `submit`: a call on another shard.

use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context as TaskContext, Poll};

use super::outside::OutsideCall;
use crate::error::{JoinError, Panic, SubmitError};
use crate::shard::{Context, ShardIndex};
use crate::task::token::Token;
use crate::task::{JoinHandle, Request, Sent, Traveller, Work, item};

/// The answer of a call that was sent to a shard. The call is on its way already.
///
/// # Cancel safety
///
/// Dropping it cancels the call and never waits: the target drops the call's future and captures
/// between polls, also before the first. What the call did until then stays done.
#[must_use = "dropping it cancels the call; await it"]
pub struct Submit<T>(State<T>);

enum State<T> {
    /// To the shard itself: a task like any other.
    Here(JoinHandle<T>),
    /// To another shard of the same runtime.
    There(Sent<T>),
    /// From a thread outside the runtime's shards.
    Outside(OutsideCall<T>),
    Done,
}

impl<T> Submit<T> {
    pub(crate) fn outside(call: OutsideCall<T>) -> Self {
        Self(State::Outside(call))
    }

    /// Asks for the call's end, as the drop does; the answer comes when the target has dropped it.
    pub(crate) fn cancel(&self) {
        match &self.0 {
            State::Here(handle) => handle.abort(),
            State::There(sent) => sent.give_up(),
            // Who waits for the end of a call is a shard of the target's runtime.
            State::Outside(_) | State::Done => {}
        }
    }
}

// The output is never pinned in here.
impl<T> Unpin for Submit<T> {}

impl<T: Send + 'static> Future for Submit<T> {
    type Output = Result<T, SubmitError>;

    /// # Panics
    ///
    /// When it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let poll = match &mut self.0 {
            State::Here(handle) => Pin::new(handle).poll(cx).map_err(SubmitError::from),
            State::There(sent) => sent.poll(cx),
            State::Outside(call) => Pin::new(call).poll(cx),
            State::Done => panic!("a submitted call was polled after it was ready"),
        };
        if poll.is_ready() {
            self.0 = State::Done;
        }
        poll
    }
}

impl<T> Drop for Submit<T> {
    fn drop(&mut self) {
        // The others cancel themselves.
        if let State::Here(handle) = &self.0 {
            handle.abort();
        }
    }
}

impl<T> fmt::Debug for Submit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            State::Here(_) => "Submit(here)",
            State::There(_) => "Submit(there)",
            State::Outside(_) => "Submit(outside)",
            State::Done => "Submit(done)",
        })
    }
}

impl From<JoinError> for SubmitError {
    fn from(error: JoinError) -> Self {
        match error {
            JoinError::Cancelled => Self::Cancelled,
            JoinError::Panicked(panic) => Self::Panicked(panic),
        }
    }
}

/// Sends `call` from the shard of `context` to `to`, a shard of the same runtime.
#[inline]
pub(crate) fn send<F, Fut>(context: &Context, to: ShardIndex, call: F) -> Submit<Fut::Output>
where
    F: FnOnce() -> Fut + Send + 'static,
    Fut: Future + 'static,
    Fut::Output: Send + 'static,
{
    #[cfg(debug_assertions)]
    let call = {
        // Part of the group's call that it is made in.
        let rank = context.groups().rank();
        move || super::group::within(rank, call)
    };
    if to == context.index() {
        return Submit(State::Here(context.spawn(async move { call().await })));
    }
    let (sent, traveller): (Sent<Fut::Output>, Traveller) = item(context, Call(call));
    context.mesh().send(context, to, traveller);
    Submit(State::There(sent))
}

struct Call<F>(F);

impl<F, Fut> Request for Call<F>
where
    F: FnOnce() -> Fut + Send + 'static,
    Fut: Future + 'static,
    Fut::Output: Send + 'static,
{
    type Output = Fut::Output;

    fn start(self, work: Work<Fut::Output>) {
        Context::with(|context| context.spawn_detached(carry_out(self.0, work)));
    }
}

/// Who waits for a call's answer, seen from the shard that carries it out.
pub(super) trait Answer<T> {
    /// Leaves the working task's token for a cancel; says whether the caller has given up already.
    fn enter(&self, worker: Token) -> bool;
    /// Whether the caller has given up.
    fn is_cancelled(&self) -> bool;
    /// Gives the answer.
    fn answer(self, output: Result<T, SubmitError>);
}

impl<T: Send + 'static> Answer<T> for Work<T> {
    fn enter(&self, worker: Token) -> bool {
        Work::enter(self, worker)
    }

    fn is_cancelled(&self) -> bool {
        Work::is_cancelled(self)
    }

    fn answer(self, output: Result<T, SubmitError>) {
        Work::answer(self, output);
    }
}

/// The target's task for one call: runs it, looks before each poll whether it is still wanted, and
/// answers.
pub(super) async fn carry_out<F, Fut, A>(call: F, work: A)
where
    F: FnOnce() -> Fut,
    Fut: Future,
    A: Answer<Fut::Output>,
{
    let token = Context::with(Context::current_token).expect("a call runs as a task");
    if work.enter(token) {
        drop(call);
        return work.answer(Err(SubmitError::Cancelled));
    }
    let output = match catch_unwind(AssertUnwindSafe(call)) {
        Err(panic) => Err(SubmitError::Panicked(Panic::new(panic))),
        Ok(future) => {
            let mut future = pin!(future);
            poll_fn(|cx| {
                if work.is_cancelled() {
                    return Poll::Ready(Err(SubmitError::Cancelled));
                }
                match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
                    Ok(poll) => poll.map(Ok),
                    Err(panic) => Poll::Ready(Err(SubmitError::Panicked(Panic::new(panic)))),
                }
            })
            .await
        }
    };
    work.answer(output);
}
