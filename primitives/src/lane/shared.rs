//! What both ends of a lane share, and the functions that make one.

use super::slots::{Memory, Slots};
use super::{Consumer, Producer};
use crate::LaneError;
use crate::pad::CachePadded;
use crate::park::Parker;
use crate::sync::{Arc, AtomicBool, AtomicUsize, Ordering, Site, acquire, release};
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

/// Makes a lane of `capacity` slots, all allocated now.
///
/// ```
/// let (mut producer, mut consumer) = corelane_primitives::lane(4);
/// assert_eq!(producer.push(1), Ok(()));
/// assert_eq!(consumer.pop(), Some(1));
/// assert_eq!(consumer.pop(), None);
/// ```
///
/// # Panics
///
/// If `capacity` is not a power of two from 1 to 2^31, or if there is no memory for the slots.
/// [`try_lane`] tells the same by an error.
#[track_caller]
pub fn lane<T>(capacity: usize) -> (Producer<T>, Consumer<T>) {
    match try_lane(capacity) {
        Ok(ends) => ends,
        Err(error) => panic!("{error}"),
    }
}

/// Makes a lane of `capacity` slots, or tells why that cannot be.
///
/// # Errors
///
/// [`LaneError::Capacity`] unless `capacity` is a power of two from 1 to 2^31,
/// [`LaneError::Memory`] if the slots cannot be allocated.
pub fn try_lane<T>(capacity: usize) -> Result<(Producer<T>, Consumer<T>), LaneError> {
    lane_with_start(capacity, 0)
}

/// [`try_lane`] with positions that start at `start`, so that tests reach the wrap.
///
/// # Errors
///
/// Those of [`try_lane`].
#[doc(hidden)]
pub fn lane_with_start<T>(
    capacity: usize,
    start: usize,
) -> Result<(Producer<T>, Consumer<T>), LaneError> {
    let memory = Memory::new(capacity)?;
    let shared = Arc::new(Shared {
        tail: CachePadded::new(AtomicUsize::new(start)),
        head: CachePadded::new(AtomicUsize::new(start)),
        consumer_seat: CachePadded::new(Parker::new()),
        producer_seat: CachePadded::new(Seat {
            parker: Parker::new(),
            wanted: AtomicUsize::new(1),
        }),
        producer_left: AtomicBool::new(false),
        consumer_left: AtomicBool::new(false),
        memory,
    });
    Ok((
        Producer::new(Handle::new(Arc::clone(&shared)), start),
        Consumer::new(Handle::new(shared), start),
    ))
}

/// Where the producer waits for room.
pub(super) struct Seat {
    pub(super) parker: Parker,
    /// How many free slots it waits for. Written before it parks, read after its mark was seen.
    pub(super) wanted: AtomicUsize,
}

/// One lane. Each word that a running end writes has a line of its own; the last line is read only
/// until an end leaves.
pub(super) struct Shared<T> {
    /// The next position to be written. The producer's.
    pub(super) tail: CachePadded<AtomicUsize>,
    /// The next position to be read. The consumer's.
    pub(super) head: CachePadded<AtomicUsize>,
    /// Where the consumer waits for values.
    pub(super) consumer_seat: CachePadded<Parker>,
    pub(super) producer_seat: CachePadded<Seat>,
    pub(super) producer_left: AtomicBool,
    pub(super) consumer_left: AtomicBool,
    memory: Memory<T>,
}

// SAFETY: Valid: all fields but the slots are atomics and parkers, which are Send. Exclusive: the
// slots hold values of T, which may leave or be dropped on another thread, hence `T: Send`.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: Valid: atomics and parkers are Sync. Exclusive: a slot is touched only by the one end
// that owns its position (module header), so no two threads share a `&T`, and `T: Send` suffices.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// What a consumer does that leaves with `head` as its next position: tells it, wakes a parked
    /// producer, and drops what is inside at that moment.
    ///
    /// Not inlined, and by value, so that the optimizer may keep an end's fields in registers.
    ///
    /// # Safety
    ///
    /// The caller is the consumer, `head` is its position, and it reads no value afterwards.
    unsafe fn consumer_leaves(&self, head: usize) {
        /// Drops the values, also when the producer's waker panics. At most one ring full, so that
        /// a busy producer cannot hold it up. What a panicking value leaves behind, and what is
        /// pushed from now on, goes with the last end.
        struct Drain<'a, T>(&'a Shared<T>, usize);
        impl<T> Drop for Drain<'_, T> {
            fn drop(&mut self) {
                let Drain(shared, mut head) = *self;
                shared.consumer_seat.clear();
                let tail = shared.tail.load(acquire(Site::LaneReadTail));
                while head != tail {
                    let position = head;
                    head = head.wrapping_add(1);
                    // SAFETY: Valid: `position` lies before a tail that was read with Acquire, and
                    // the head passes it once. Exclusive: the head has not yet passed it, and the
                    // consumer is us.
                    let value = unsafe { shared.memory.slots().read(position) };
                    // Before the drop, which may panic.
                    shared.head.store(head, release(Site::LaneRelease));
                    drop(value);
                }
            }
        }
        // A forgotten chunk has taken values whose slots were never handed back.
        self.head.store(head, release(Site::LaneRelease));
        let _drain = Drain(self, head);
        // Relaxed: see `Producer::is_abandoned`; a parked producer is found by the fence in `wake`.
        self.consumer_left.store(true, Ordering::Relaxed);
        wake_left(&self.producer_seat.parker);
    }

    /// What a leaving producer does: tells it, and wakes a parked consumer. Not inlined, as above.
    fn producer_leaves(&self) {
        /// Drops this end's own waker, also when the consumer's panics.
        struct Forget<'a, T>(&'a Shared<T>);
        impl<T> Drop for Forget<'_, T> {
            fn drop(&mut self) {
                self.0.producer_seat.parker.clear();
            }
        }
        let _forget = Forget(self);
        // Release, partner LaneReadLeft: who sees this sees all that was pushed.
        self.producer_left.store(true, release(Site::LaneLeave));
        wake_left(&self.consumer_seat);
    }

    /// Drops the oldest value still inside; false when there is none.
    fn drop_one(&mut self) -> bool {
        // Relaxed: `&mut self` says that both ends are gone, and the count of the last `Arc` has
        // ordered their last stores before this.
        let head = self.head.load(Ordering::Relaxed);
        if head == self.tail.load(Ordering::Relaxed) {
            return false;
        }
        // First the head, so that a panicking drop is not repeated.
        self.head.store(head.wrapping_add(1), Ordering::Relaxed);
        // SAFETY: Valid: `head` lies before the tail, so its slot was filled and not read.
        // Exclusive: `&mut self`.
        drop(unsafe { self.memory.slots().read(head) });
        true
    }
}

/// Wakes the end that is left. A panic of its waker comes out of the drop of the other one, unless
/// the thread unwinds already: a second panic would end the process. The hook has told of it.
fn wake_left(parker: &Parker) {
    if !std::thread::panicking() {
        parker.wake();
    } else if let Err(panic) = catch_unwind(AssertUnwindSafe(|| parker.wake()))
        && let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic)))
    {
        // What a panic carries is foreign code too; a second one from there is given up.
        std::mem::forget(again);
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        /// Goes on when a value's drop panics.
        struct Rest<'a, T>(&'a mut Shared<T>);
        impl<T> Drop for Rest<'_, T> {
            fn drop(&mut self) {
                while self.0.drop_one() {}
            }
        }
        let rest = Rest(self);
        while rest.0.drop_one() {}
    }
}

/// One end's hold on a lane: its count of the `Arc`, and a copy of where the slots are.
///
/// It is a bare pointer because the drop of an `Arc` field takes that field's address, which keeps
/// the whole end in memory instead of registers (bench rows `lanes`: a quarter slower).
pub(super) struct Handle<T> {
    shared: NonNull<Shared<T>>,
    slots: Slots<T>,
}

// SAFETY: Valid: it stands for an `Arc<Shared<T>>`, which is Send where `Shared<T>` is Send and
// Sync. Exclusive: it gives shared references only; the slots have an unsafe interface.
unsafe impl<T: Send> Send for Handle<T> {}
// SAFETY: as for Send.
unsafe impl<T: Send> Sync for Handle<T> {}

impl<T> Handle<T> {
    fn new(shared: Arc<Shared<T>>) -> Self {
        let slots = shared.memory.slots();
        let shared = NonNull::new(Arc::into_raw(shared).cast_mut());
        let shared = shared.expect("an Arc is never null");
        Self { shared, slots }
    }

    /// The slots, which live at least as long as this handle.
    #[inline(always)]
    pub(super) fn slots(&self) -> Slots<T> {
        self.slots
    }

    /// The producer goes, with all up to `tail` published. It ends a handle, which is not used
    /// again.
    ///
    /// It takes values, so that an end's drop is one call and the end's cursors stay in registers
    /// wherever they are used (bench row `one_way_single`).
    ///
    /// # Safety
    ///
    /// Called once a handle, and `shared` is a handle's.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn end_producer(shared: NonNull<Shared<T>>, tail: usize) {
        // SAFETY: Valid: the pointer came from `Arc::into_raw`. Exclusive: each handle gives its
        // one count back once, as the caller vouches.
        let shared = unsafe { Arc::from_raw(shared.as_ptr()) };
        // Release, partner LaneReadTail: staged values too.
        shared.tail.store(tail, release(Site::LanePublish));
        shared.producer_leaves();
    }

    /// The consumer goes, with all up to `head` taken. It ends a handle, which is not used again.
    ///
    /// # Safety
    ///
    /// As [`Handle::end_producer`]; `head` is the consumer's position.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn end_consumer(shared: NonNull<Shared<T>>, head: usize) {
        // SAFETY: As in `end_producer`.
        let shared = unsafe { Arc::from_raw(shared.as_ptr()) };
        // SAFETY: Valid: as the caller vouches. Exclusive: it is the lane's only consumer, and
        // takes nothing after its end.
        unsafe { shared.consumer_leaves(head) };
    }

    /// What both ends share, for the end's own end.
    #[inline(always)]
    pub(super) fn shared(&self) -> NonNull<Shared<T>> {
        self.shared
    }
}

impl<T> Deref for Handle<T> {
    type Target = Shared<T>;

    #[inline(always)]
    fn deref(&self) -> &Shared<T> {
        // SAFETY: Valid: this handle's count keeps the lane alive. Exclusive: only shared
        // references to it are ever made while a handle lives.
        unsafe { self.shared.as_ref() }
    }
}
