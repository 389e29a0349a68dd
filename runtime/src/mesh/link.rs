//! Lane ends that belong to a shard: they push and pop without a fence, and the shard tells the
//! other end once a turn.
//!
//! Owner: one shard's thread. A bare [`Producer`] must be told when to notify; an [`Outlet`] puts
//! itself on its shard's list at the first push of a turn, and the shard notifies for all of them
//! after its slice (bench row `mesh_one_way`). Losing an end needs no list: dropping it wakes the
//! other.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context as TaskContext, Poll};

use corelane_primitives::{Closed, Consumer, Full, Producer};

use crate::shard::Context;

/// What the shard notifies at the end of a turn.
pub(super) trait Notify {
    fn notify(&self);
}

struct End<L> {
    lane: RefCell<L>,
    /// The end is on its shard's list.
    listed: Cell<bool>,
}

impl<L> End<L>
where
    Self: Notify + 'static,
{
    fn new(lane: L) -> Rc<Self> {
        Rc::new(Self {
            lane: RefCell::new(lane),
            listed: Cell::new(false),
        })
    }

    /// Makes sure that the other end is told after this turn.
    #[inline]
    fn list(self: &Rc<Self>) {
        if !self.listed.replace(true) {
            let this = Rc::clone(self);
            if Context::try_with(|context| context.mesh().notify_later(this)).is_none() {
                self.notify();
            }
        }
    }
}

impl<T> Notify for End<Producer<T>> {
    fn notify(&self) {
        self.listed.set(false);
        self.lane.borrow().notify();
    }
}

impl<T> Notify for End<Consumer<T>> {
    fn notify(&self) {
        self.listed.set(false);
        self.lane.borrow().notify();
    }
}

/// The sending end of a lane, held by a shard.
///
/// Make a [`lane`](corelane_primitives::lane()), keep the producer, send the consumer to the other
/// shard with [`Shard::submit`](crate::Shard::submit), and wrap each where it stays.
///
/// ```
/// # corelane::Runtime::builder().placement(corelane::Placement::Unpinned(2)).run(|| async {
/// use corelane::{Inlet, Outlet};
///
/// let (producer, consumer) = corelane_primitives::lane(64);
/// let sum = corelane::shards()[1].submit(move || async move {
///     let inlet = Inlet::new(consumer);
///     let mut sum = 0_u64;
///     while let Some(value) = inlet.recv().await {
///         sum += value;
///     }
///     sum
/// });
/// let outlet = Outlet::new(producer);
/// for value in 0..1_000 {
///     outlet.send(value).await.expect("the other end is there");
/// }
/// drop(outlet);
/// assert_eq!(sum.await?, 499_500);
/// # Ok::<_, corelane::SubmitError>(())
/// # })?.expect("the shard is there");
/// # Ok::<_, corelane::StartError>(())
/// ```
pub struct Outlet<T: 'static>(Rc<End<Producer<T>>>);

/// The receiving end of a lane, held by a shard. See [`Outlet`].
pub struct Inlet<T: 'static>(Rc<End<Consumer<T>>>);

impl<T: 'static> Outlet<T> {
    /// Takes the producer of a lane to this shard.
    #[must_use]
    pub fn new(producer: Producer<T>) -> Self {
        Self(End::new(producer))
    }

    /// Pushes `value`, or hands it back when every slot is taken. The other end is told after this
    /// shard's turn.
    ///
    /// # Errors
    ///
    /// [`Full`] when the other end is a whole lane behind; values for an end that is gone fill the
    /// lane too, see [`Outlet::is_abandoned`].
    #[inline]
    pub fn push(&self, value: T) -> Result<(), Full<T>> {
        self.0.lane.borrow_mut().push(value)?;
        self.0.list();
        Ok(())
    }

    /// Pushes from `values` until the lane is full or they end, and returns how many.
    pub fn push_batch(&self, values: &mut impl Iterator<Item = T>) -> usize {
        let pushed = self.0.lane.borrow_mut().push_batch(values);
        if pushed > 0 {
            self.0.list();
        }
        pushed
    }

    /// Waits until `slots` slots are free.
    ///
    /// # Errors
    ///
    /// [`Closed`] when the other end is gone.
    ///
    /// # Panics
    ///
    /// When `slots` is more than the capacity.
    ///
    /// # Cancel safety
    ///
    /// It takes nothing; dropped at any time it leaves nothing behind.
    pub async fn room(&self, slots: usize) -> Result<(), Closed> {
        poll_fn(|cx| self.poll_room(cx, slots)).await
    }

    fn poll_room(&self, cx: &mut TaskContext<'_>, slots: usize) -> Poll<Result<(), Closed>> {
        self.0.lane.borrow_mut().poll_room(cx, slots)
    }

    /// Pushes `value` as soon as there is room.
    ///
    /// # Errors
    ///
    /// [`Closed`] with the value when the other end is gone.
    ///
    /// # Cancel safety
    ///
    /// The value is pushed in the poll that completes. A future dropped before drops the value; to
    /// keep it, wait for [`Outlet::room`] and push then.
    #[inline]
    pub async fn send(&self, value: T) -> Result<(), Closed<T>> {
        let mut value = Some(value);
        poll_fn(|cx| {
            // A sender whose poll has used up its time comes again later.
            if Context::poll_budget(cx).is_pending() {
                return Poll::Pending;
            }
            let Some(unsent) = value.take() else {
                unreachable!("a send that has pushed is ready");
            };
            let Err(Full(unsent)) = self.push(unsent) else {
                return Poll::Ready(Ok(()));
            };
            match self.poll_room(cx, 1) {
                Poll::Ready(Ok(())) => {
                    Poll::Ready(self.push(unsent).map_err(|Full(unsent)| Closed(unsent)))
                }
                Poll::Ready(Err(_)) => Poll::Ready(Err(Closed(unsent))),
                Poll::Pending => {
                    value = Some(unsent);
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// How many slots are free now; it can only grow until the next push.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.0.lane.borrow().slots()
    }

    /// How many slots the lane has.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.0.lane.borrow().capacity()
    }

    /// Whether the other end is gone.
    #[must_use]
    pub fn is_abandoned(&self) -> bool {
        self.0.lane.borrow().is_abandoned()
    }
}

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
        let value = self.0.lane.borrow_mut().pop()?;
        self.0.list();
        Some(value)
    }

    /// Takes up to `max` values to the end of `out`, and returns how many.
    pub fn pop_batch(&self, out: &mut Vec<T>, max: usize) -> usize {
        let popped = self.0.lane.borrow_mut().pop_batch(out, max);
        if popped > 0 {
            self.0.list();
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
        poll_fn(|cx| self.0.lane.borrow_mut().poll_ready(cx)).await
    }

    /// Takes the oldest value as soon as there is one; `None` once the other end is gone and the
    /// lane empty.
    ///
    /// # Cancel safety
    ///
    /// The value is taken in the poll that completes; a future dropped before takes nothing.
    #[inline]
    pub async fn recv(&self) -> Option<T> {
        poll_fn(|cx| {
            if Context::poll_budget(cx).is_pending() {
                return Poll::Pending;
            }
            if let Some(value) = self.pop() {
                return Poll::Ready(Some(value));
            }
            let ready = self.0.lane.borrow_mut().poll_ready(cx);
            ready.map(|_| self.pop())
        })
        .await
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

impl<T> fmt::Debug for Outlet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outlet")
            .field("slots", &self.slots())
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Inlet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inlet")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
