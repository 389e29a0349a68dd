//! Lane ends that belong to a shard: they push and pop without a fence, and the shard tells the
//! other end once a turn, or at once where the other end looks parked.
//!
//! Owner: one shard's thread. A bare [`Producer`] must be told when to notify; an [`Outlet`] puts
//! itself on its shard's list at the first push of a turn, and the shard notifies for all of them
//! after its slice (bench row `mesh_one_way`). Losing an end needs no list: dropping it wakes the
//! other.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context as TaskContext, Poll, Waker};

use corelane_primitives::{Closed, Consumer, Full, Producer};

use crate::shard::Context;

/// Values that an outlet makes visible together, and after how many it does so within a turn.
const STAGED_MAX: u32 = 64;

/// Values taken between two looks at a parked sender within a turn.
const ROOM_EVERY: u32 = 64;

/// Values that pass an end in one turn before its task lets others run.
const TURN_MAX: u32 = 256;

/// Looks at an empty lane before its receiver parks: about a wake's time between two cores.
const SPIN_ROUNDS: u32 = 32;

/// What the shard notifies at the end of a turn.
pub(super) trait Notify {
    fn notify(&self);
}

struct End<L> {
    lane: RefCell<L>,
    /// Values that passed this end since the other one was told. Not zero: the end is on its
    /// shard's list.
    passed: Cell<u32>,
    /// The tasks that wait at this end. The lane wakes the last one, which wakes the others.
    waiting: RefCell<Vec<Waker>>,
}

impl<L> End<L>
where
    Self: Notify + 'static,
{
    fn new(lane: L) -> Rc<Self> {
        Rc::new(Self {
            lane: RefCell::new(lane),
            passed: Cell::new(0),
            waiting: RefCell::default(),
        })
    }

    /// Counts what has passed, and makes sure that the other end is told after this turn.
    #[inline]
    fn pass(self: &Rc<Self>, count: u32) -> u32 {
        let before = self.passed.get();
        self.passed.set(before.saturating_add(count));
        if before == 0 {
            self.list();
        }
        self.passed.get()
    }

    #[cold]
    fn list(self: &Rc<Self>) {
        let this = Rc::clone(self);
        if Context::try_with(|context| context.mesh().notify_later(this)).is_none() {
            self.notify();
        }
    }

    /// Pending when enough has passed this turn: the task comes again after the others.
    #[inline]
    fn poll_turn(&self, cx: &mut TaskContext<'_>) -> Poll<()> {
        if self.passed.get() < TURN_MAX {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<L> End<L> {
    fn wait(&self, waker: &Waker) {
        let mut waiting = self.waiting.borrow_mut();
        if !waiting.iter().any(|known| known.will_wake(waker)) {
            waiting.push(waker.clone());
        }
    }

    /// Lets everybody who waits here look again.
    #[cold]
    fn wake_waiting(&self) {
        let mut waiting = std::mem::take(&mut *self.waiting.borrow_mut());
        waiting.drain(..).for_each(Waker::wake);
        // The list goes back for the next wait, unless a foreign waker has made a new one.
        let mut list = self.waiting.borrow_mut();
        if list.capacity() == 0 {
            *list = waiting;
        }
    }
}

/// One future's wait at an end, which several may wait at: when it is over, or given up, the others
/// look again, since the lane knows the last of them alone.
struct Wait<'a, L> {
    end: &'a End<L>,
    waits: bool,
}

impl<'a, L> Wait<'a, L> {
    #[inline]
    fn new(end: &'a End<L>) -> Self {
        Self { end, waits: false }
    }

    fn poll<R>(
        &mut self,
        cx: &mut TaskContext<'_>,
        poll: impl FnOnce(&mut L, &mut TaskContext<'_>) -> Poll<R>,
    ) -> Poll<R> {
        let polled = poll(&mut self.end.lane.borrow_mut(), cx);
        if polled.is_pending() {
            self.waits = true;
            self.end.wait(cx.waker());
        } else {
            self.waits = false;
            self.end.wake_waiting();
        }
        polled
    }
}

impl<L> Drop for Wait<'_, L> {
    #[inline]
    fn drop(&mut self) {
        if self.waits {
            self.end.wake_waiting();
        }
    }
}

impl<T> Notify for End<Producer<T>> {
    fn notify(&self) {
        self.passed.set(0);
        let mut lane = self.lane.borrow_mut();
        lane.flush();
        lane.notify();
    }
}

impl<T> Notify for End<Consumer<T>> {
    fn notify(&self) {
        self.passed.set(0);
        self.lane.borrow().notify();
    }
}

/// The sending end of a lane, held by a shard. Several of its tasks may send and wait at once.
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

/// The receiving end of a lane, held by a shard. Several of its tasks may receive at once: each
/// value goes to one of them. See [`Outlet`].
pub struct Inlet<T: 'static>(Rc<End<Consumer<T>>>);

impl<T: 'static> Outlet<T> {
    /// Takes the producer of a lane to this shard.
    #[must_use]
    pub fn new(producer: Producer<T>) -> Self {
        Self(End::new(producer))
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
        let mut lane = self.0.lane.borrow_mut();
        lane.stage(value)?;
        let parked = lane.consumer_looks_parked();
        if parked || self.0.passed.get() % STAGED_MAX == STAGED_MAX - 1 {
            lane.flush();
        }
        drop(lane);
        self.0.pass(1);
        if parked {
            self.0.lane.borrow().notify();
        }
        Ok(())
    }

    /// Makes what was pushed visible now, and wakes the other end if it is parked.
    pub fn flush(&self) {
        self.0.lane.borrow_mut().flush();
        self.0.lane.borrow().notify();
    }

    /// Pushes from `values` until the lane is full or they end, and returns how many.
    pub fn push_batch(&self, values: &mut impl Iterator<Item = T>) -> usize {
        let pushed = self.0.lane.borrow_mut().push_batch(values);
        if pushed > 0 {
            self.0.pass(u32::try_from(pushed).unwrap_or(u32::MAX));
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
        let mut wait = Wait::new(&*self.0);
        poll_fn(|cx| wait.poll(cx, |lane, cx| lane.poll_room(cx, slots))).await
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
            wait: Wait::new(&self.0),
        }
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
        let mut lane = self.0.lane.borrow_mut();
        let value = lane.pop()?;
        let parked = lane.producer_looks_parked();
        drop(lane);
        // A parked sender is told early, but not of each slot.
        if self.0.pass(1).is_multiple_of(ROOM_EVERY) && parked {
            self.0.lane.borrow().notify();
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
        if outlet.0.poll_turn(cx).is_pending() {
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
        match self.wait.poll(cx, |lane, cx| lane.poll_room(cx, 1)) {
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
