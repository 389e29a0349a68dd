//! The sending end.

use std::cell::Cell;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context as TaskContext, Poll, ready};

use corelane_primitives::{Closed, Full, Producer};

use super::{End, Notify, Wait, notify_other};

/// Values that an outlet makes visible together, and after how many it does so within a turn.
const STAGED_MAX: u32 = 64;

/// The sending end of a lane, held by a shard. Several of its tasks may send and wait at once.
///
/// What waits at the other end may be of another executor. If its waker panics, nothing but its
/// wake is lost; only the drop of this end hands the panic on.
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
pub struct Outlet<T: 'static> {
    end: Rc<End<Producer<T>>>,
    /// Batches that are drawing a value now, each of which keeps a slot for it: more than one when
    /// a batch's iterator pushes a batch itself.
    drawing: Cell<u32>,
    /// Something was pushed while a batch was drawing.
    overtaken: Cell<bool>,
}

impl<T: 'static> Outlet<T> {
    /// Takes the producer of a lane to this shard.
    #[must_use]
    pub fn new(producer: Producer<T>) -> Self {
        Self {
            end: End::new(producer),
            drawing: Cell::new(0),
            overtaken: Cell::new(false),
        }
    }

    /// Pushes `value`, or hands it back when every slot is taken.
    ///
    /// The other end sees it with the 64th push, after this shard's turn, at [`Outlet::flush`], or
    /// at once when it is parked, whichever comes first.
    ///
    /// # Errors
    ///
    /// [`Full`] when the other end is a whole lane behind; values for an end that is gone fill the
    /// lane too, see [`Outlet::is_abandoned`].
    #[inline]
    pub fn push(&self, value: T) -> Result<(), Full<T>> {
        if self.drawing.get() > 0 && !self.overtake() {
            return Err(Full(value));
        }
        let mut lane = self.end.lane.borrow_mut();
        lane.stage(value)?;
        let parked = lane.consumer_looks_parked();
        if parked || self.end.passed.get() % STAGED_MAX == STAGED_MAX - 1 {
            lane.flush();
        }
        drop(lane);
        self.end.pass(1);
        if parked {
            notify_other(|| self.end.lane.borrow().notify());
        }
        Ok(())
    }

    /// Makes what was pushed visible now, and wakes the other end if it is parked.
    pub fn flush(&self) {
        self.end.lane.borrow_mut().flush();
        notify_other(|| self.end.lane.borrow().notify());
    }

    /// Pushes from `values` until the lane is full or they end, and returns how many.
    ///
    /// No value is taken from the iterator without a slot for it: one is kept while the iterator
    /// runs. It may use this outlet itself. What it pushes goes before the value that it then
    /// gives, and finds the lane [`Full`] one slot early; what it waits for in here is pending. If
    /// it panics, what it gave before is sent.
    pub fn push_batch(&self, values: &mut impl Iterator<Item = T>) -> usize {
        let mut batch = Batch::new(self);
        let mut room = batch.room();
        while room > 0 {
            let Some(value) = values.next() else { break };
            batch.push(value);
            room = if self.overtaken.take() {
                batch.room()
            } else {
                room - 1
            };
        }
        batch.pushed
    }

    /// Whether a value may be pushed while a batch draws its next one.
    #[cold]
    fn overtake(&self) -> bool {
        let may = self.slots() > 0;
        if may {
            self.overtaken.set(true);
        }
        may
    }

    /// Pending for what is polled by the iterator of a batch: the room is the batch's, which ends
    /// before anybody polls again.
    fn poll_drawn(&self, cx: &mut TaskContext<'_>) -> Poll<()> {
        if self.drawing.get() == 0 {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
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
        let mut wait = Wait::new(&*self.end);
        poll_fn(|cx| {
            ready!(self.poll_drawn(cx));
            wait.poll(cx, |lane, cx| lane.poll_room(cx, slots))
        })
        .await
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
    pub fn send(&self, value: T) -> impl Future<Output = Result<(), Closed<T>>> {
        Sending {
            outlet: self,
            value: Some(value),
            wait: Wait::new(&self.end),
        }
    }

    /// How many slots are free now; it can only grow until the next push.
    #[must_use]
    pub fn slots(&self) -> usize {
        let free = self.end.lane.borrow().slots();
        free.saturating_sub(self.drawing.get() as usize)
    }

    /// How many slots the lane has.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.end.lane.borrow().capacity()
    }

    /// Whether the other end is gone.
    #[must_use]
    pub fn is_abandoned(&self) -> bool {
        self.end.lane.borrow().is_abandoned()
    }
}

/// A batch that is being pushed. Dropped, also by a panic of its iterator, it sends what it has.
struct Batch<'a, T: 'static> {
    outlet: &'a Outlet<T>,
    pushed: usize,
}

impl<'a, T> Batch<'a, T> {
    fn new(outlet: &'a Outlet<T>) -> Self {
        outlet.drawing.set(outlet.drawing.get() + 1);
        Self { outlet, pushed: 0 }
    }

    /// How many values may be drawn: its own slot is for the first of them.
    fn room(&self) -> usize {
        let free = self.outlet.end.lane.borrow().slots();
        free.saturating_sub(self.outlet.drawing.get() as usize - 1)
    }

    fn push(&mut self, value: T) {
        let mut lane = self.outlet.end.lane.borrow_mut();
        let Ok(()) = lane.stage(value) else {
            unreachable!("a slot was kept for the value");
        };
        self.pushed += 1;
    }
}

impl<T> Drop for Batch<'_, T> {
    fn drop(&mut self) {
        let outlet = self.outlet;
        outlet.drawing.set(outlet.drawing.get() - 1);
        // The batch around this one counts its room anew.
        outlet.overtaken.set(outlet.drawing.get() > 0);
        if self.pushed > 0 {
            outlet.end.lane.borrow_mut().flush();
            outlet
                .end
                .pass(u32::try_from(self.pushed).unwrap_or(u32::MAX));
        }
    }
}

/// Written out rather than an `async fn`: what a send writes besides the value fills the
/// processor's store buffer, and with it full no two lines cross at once (bench row
/// `mesh_one_way`).
struct Sending<'a, T: 'static> {
    outlet: &'a Outlet<T>,
    value: Option<T>,
    wait: Wait<'a, Producer<T>>,
}

// The value is never pinned.
impl<T> Unpin for Sending<'_, T> {}

impl<T> Future for Sending<'_, T> {
    type Output = Result<(), Closed<T>>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let outlet = self.outlet;
        if outlet.end.poll_turn(cx).is_pending() {
            return Poll::Pending;
        }
        let value = self
            .value
            .take()
            .expect("a send is not polled after it was ready");
        // Room that the other end left behind when it went is no use to anybody.
        if outlet.is_abandoned() {
            return Poll::Ready(Err(Closed(value)));
        }
        let Err(Full(value)) = outlet.push(value) else {
            return Poll::Ready(Ok(()));
        };
        let room = match outlet.poll_drawn(cx) {
            Poll::Ready(()) => self.wait.poll(cx, |lane, cx| lane.poll_room(cx, 1)),
            Poll::Pending => Poll::Pending,
        };
        match room {
            Poll::Ready(Ok(())) => {
                Poll::Ready(outlet.push(value).map_err(|Full(value)| Closed(value)))
            }
            Poll::Ready(Err(_)) => Poll::Ready(Err(Closed(value))),
            Poll::Pending => {
                self.value = Some(value);
                Poll::Pending
            }
        }
    }
}

impl<T> fmt::Debug for Outlet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outlet")
            .field("slots", &self.slots())
            .finish_non_exhaustive()
    }
}

impl<T> Notify for End<Producer<T>> {
    fn notify(&self) {
        self.passed.set(0);
        self.lane.borrow_mut().flush();
        notify_other(|| self.lane.borrow().notify());
    }
}
