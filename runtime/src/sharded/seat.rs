//! One part of a service, at home.
//!
//! Owner: its shard; nothing here is shared. The strong count of a seat says who uses it: the
//! shard's table until the stop, each [`Local`], and the stop itself.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::{Future, poll_fn};
use std::ops::Deref;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use crate::home::ResidentKey;
use crate::shard::Context;
use crate::time::timeout;

/// This shard's part of a [`Sharded`](super::Sharded) service, in use.
///
/// It dereferences to the part and may be kept while waiting; it stays on its shard. A stop waits
/// for it until its deadline. Cloning it costs a count that no other thread sees.
pub struct Local<S: 'static>(Rc<Seat<S>>);

pub(super) struct Seat<S> {
    part: S,
    /// The tasks of calls that are being carried out, to be woken when the time is over.
    calls: RefCell<Vec<Option<Waker>>>,
    /// Places without a call.
    free: RefCell<Vec<usize>>,
    /// The stop's deadline has passed: calls end between polls.
    over: Cell<bool>,
    /// A stop that waits for the end of a use.
    stopper: Cell<Option<Waker>>,
}

/// The service has stopped here.
#[derive(Debug)]
pub(super) struct Stopped;

/// What a stop left behind on one shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    Nothing,
    /// Somebody keeps a [`Local`].
    Uses,
}

impl<S> Seat<S> {
    pub(super) fn new(part: S) -> Self {
        Self {
            part,
            calls: RefCell::default(),
            free: RefCell::default(),
            over: Cell::new(false),
            stopper: Cell::new(None),
        }
    }

    /// Takes a place for a call.
    fn enter(&self) -> usize {
        let mut calls = self.calls.borrow_mut();
        self.free.borrow_mut().pop().unwrap_or_else(|| {
            calls.push(None);
            calls.len() - 1
        })
    }

    fn leave(&self, place: usize) {
        self.calls.borrow_mut()[place] = None;
        self.free.borrow_mut().push(place);
    }

    fn is_attended(&self) -> bool {
        self.free.borrow().len() < self.calls.borrow().len()
    }

    /// Ends all calls at their next poll, and wakes them for it.
    fn end_calls(&self) {
        self.over.set(true);
        // They are wakers of this shard's tasks, which hold nothing and run nothing.
        for call in self.calls.borrow().iter().flatten() {
            call.wake_by_ref();
        }
    }

    /// Waits until `is_so`, which is looked at whenever a use ends.
    async fn wait(&self, is_so: impl Fn() -> bool) {
        poll_fn(|cx| {
            if is_so() {
                return Poll::Ready(());
            }
            self.stopper.set(Some(cx.waker().clone()));
            Poll::Pending
        })
        .await;
    }
}

impl<S: 'static> Local<S> {
    /// The part behind `key` on this shard, unless it has been stopped.
    pub(super) fn find(key: ResidentKey) -> Result<Self, Stopped> {
        let seat = Context::with(|context| context.residents().get(key)).ok_or(Stopped)?;
        Ok(Self(seat.downcast().expect("a key is of one value")))
    }
}

impl<S> Clone for Local<S> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<S> Deref for Local<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.0.part
    }
}

impl<S: fmt::Debug> fmt::Debug for Local<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Local").field(&self.0.part).finish()
    }
}

impl<S> Drop for Local<S> {
    fn drop(&mut self) {
        // The stop looks in a later poll, when this use has gone.
        if let Some(stopper) = self.0.stopper.take() {
            stopper.wake();
        }
    }
}

/// A call that is being carried out, which the end of the stop's time ends.
struct Attending<S: 'static> {
    local: Local<S>,
    place: usize,
    is_known: bool,
}

impl<S> Attending<S> {
    fn new(local: Local<S>) -> Self {
        let place = local.0.enter();
        Self {
            local,
            place,
            is_known: false,
        }
    }

    /// Whether the call is to end. A task keeps its waker for life, so one registration does.
    fn is_over(&mut self, waker: &Waker) -> bool {
        if !self.is_known {
            self.is_known = true;
            self.local.0.calls.borrow_mut()[self.place] = Some(waker.clone());
        }
        self.local.0.over.get()
    }
}

impl<S> Drop for Attending<S> {
    fn drop(&mut self) {
        self.local.0.leave(self.place);
    }
}

/// Carries out a call of the part behind `key`, in a task of this shard.
pub(super) async fn attend<S, F, Fut>(key: ResidentKey, call: F) -> Result<Fut::Output, Stopped>
where
    S: 'static,
    F: FnOnce(Local<S>) -> Fut,
    Fut: Future,
{
    let local = Local::<S>::find(key)?;
    let mut attending = Attending::new(local.clone());
    // Dropped before `attending`: who finds no call attended finds no use of one.
    let mut call = pin!(call(local));
    poll_fn(|cx| {
        if attending.is_over(cx.waker()) {
            return Poll::Ready(Err(Stopped));
        }
        call.as_mut().poll(cx).map(Ok)
    })
    .await
}

/// Stops the part behind `key`: no call finds it any more, those under way have until `deadline`,
/// then they end between polls, and the part is dropped.
pub(super) async fn stop<S: 'static>(key: ResidentKey, deadline: Duration) -> Left {
    let Some(seat) = Context::with(|context| context.residents().remove(key)) else {
        return Left::Nothing;
    };
    let seat: Rc<Seat<S>> = seat.downcast().expect("a key is of one value");
    let is_unused = || Rc::strong_count(&seat) == 1;
    if timeout(deadline, seat.wait(is_unused)).await.is_err() {
        seat.end_calls();
        // Each ends at its next poll, and they have been woken.
        seat.wait(|| !seat.is_attended()).await;
    }
    if is_unused() {
        Left::Nothing
    } else {
        Left::Uses
    }
}
