//! The receiving end.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context as TaskContext, Poll};

use corelane_primitives::Consumer;

use super::{End, Notify, Wait, notify_other};
use crate::shard::Context;

/// Values taken between two looks at a parked sender within a turn.
const ROOM_EVERY: u32 = 64;

/// Looks at an empty lane before its receiver parks: about a wake's time between two cores.
const SPIN_ROUNDS: u32 = 32;

/// The receiving end of a lane, held by a shard. Several of its tasks may receive at once: each
/// value goes to one of them. See [`Outlet`](crate::Outlet).
pub struct Inlet<T: 'static>(Rc<End<Consumer<T>>>);

impl<T: 'static> Inlet<T> {
    /// Takes the consumer of a lane to this shard.
    #[must_use]
    pub fn new(consumer: Consumer<T>) -> Self {
        Self(End::new(consumer))
    }

    /// Takes the oldest value, if there is one. The other end is told of the room after this turn.
    #[inline]
    #[must_use]
    pub fn pop(&self) -> Option<T> {
        let mut lane = self.0.lane.borrow_mut();
        let value = lane.pop()?;
        let parked = lane.producer_looks_parked();
        drop(lane);
        // A parked sender is told early, but not of each slot.
        if self.0.pass(1).is_multiple_of(ROOM_EVERY) && parked {
            notify_other(|| self.0.lane.borrow().notify());
        }
        Some(value)
    }

    /// Takes up to `max` values to the end of `out`, and returns how many.
    pub fn pop_batch(&self, out: &mut Vec<T>, max: usize) -> usize {
        let popped = self.0.lane.borrow_mut().pop_batch(out, max);
        if popped > 0 {
            self.0.pass(u32::try_from(popped).unwrap_or(u32::MAX));
        }
        popped
    }

    /// Waits until there is a value (`true`), or the other end is gone and the lane empty
    /// (`false`).
    ///
    /// # Cancel safety
    ///
    /// It takes nothing.
    pub async fn ready(&self) -> bool {
        let mut wait = Wait::new(&*self.0);
        poll_fn(|cx| wait.poll(cx, Consumer::poll_ready)).await
    }

    /// Takes the oldest value as soon as there is one; `None` once the other end is gone and the
    /// lane empty.
    ///
    /// # Cancel safety
    ///
    /// The value is taken in the poll that completes; a future dropped before takes nothing.
    #[inline]
    pub fn recv(&self) -> impl Future<Output = Option<T>> {
        Receiving {
            inlet: self,
            wait: Wait::new(&self.0),
        }
    }

    /// Looks at an empty lane a little longer where the shard would otherwise spin itself: to park
    /// and be woken costs both ends more (bench row `mesh_one_way`).
    #[cold]
    fn spin(&self) -> Option<T> {
        if !Context::try_with(Context::may_spin)? {
            return None;
        }
        (0..SPIN_ROUNDS).find_map(|_| {
            std::hint::spin_loop();
            self.pop()
        })
    }

    /// Values in the lane now.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.lane.borrow().len()
    }

    /// Whether the lane has no value now.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the other end is gone.
    #[must_use]
    pub fn is_abandoned(&self) -> bool {
        self.0.lane.borrow().is_abandoned()
    }
}

struct Receiving<'a, T: 'static> {
    inlet: &'a Inlet<T>,
    wait: Wait<'a, Consumer<T>>,
}

impl<T> Future for Receiving<'_, T> {
    type Output = Option<T>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let inlet = self.inlet;
        if inlet.0.poll_turn(cx).is_pending() {
            return Poll::Pending;
        }
        if let Some(value) = inlet.pop().or_else(|| inlet.spin()) {
            return Poll::Ready(Some(value));
        }
        match self.wait.poll(cx, Consumer::poll_ready) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(false) => Poll::Ready(None),
            // Another task of this shard cannot have taken it since.
            Poll::Ready(true) => Poll::Ready(inlet.pop()),
        }
    }
}

impl<T> fmt::Debug for Inlet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inlet")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

impl<T> Notify for End<Consumer<T>> {
    fn notify(&self) {
        self.passed.set(0);
        notify_other(|| self.lane.borrow().notify());
    }
}
