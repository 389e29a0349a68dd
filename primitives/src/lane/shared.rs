//! What both ends of a lane share, and the functions that make one.

use super::{Consumer, Producer};
use crate::LaneError;
use crate::pad::CachePadded;
use crate::park::Parker;
use crate::sync::{Arc, AtomicBool, AtomicUsize, Ordering, Site, UnsafeCell, acquire, release};
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::ptr::NonNull;

/// The largest capacity, in slots.
const CAPACITY_MAX: usize = 1 << 31;

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
    let mut slots = reserve(capacity)?;
    slots.resize_with(capacity, || UnsafeCell::new(MaybeUninit::uninit()));
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
        slots: slots.into_boxed_slice(),
    });
    Ok((
        Producer::new(Handle::new(Arc::clone(&shared)), start),
        Consumer::new(Handle::new(shared), start),
    ))
}

/// Memory for `capacity` slots, none of them made yet.
fn reserve<T>(capacity: usize) -> Result<Vec<Slot<T>>, LaneError> {
    if !capacity.is_power_of_two() || capacity > CAPACITY_MAX {
        return Err(LaneError::Capacity(capacity));
    }
    let mut slots = Vec::new();
    match slots.try_reserve_exact(capacity) {
        Ok(()) => Ok(slots),
        Err(_) => Err(LaneError::Memory(capacity)),
    }
}

/// Where the producer waits for room.
pub(super) struct Seat {
    pub(super) parker: Parker,
    /// How many free slots it waits for. Written before it parks, read after its mark was seen.
    pub(super) wanted: AtomicUsize,
}

pub(super) type Slot<T> = UnsafeCell<MaybeUninit<T>>;

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
    slots: Box<[Slot<T>]>,
}

// SAFETY: Valid: all fields but the slots are atomics and parkers, which are Send. Exclusive: the
// slots hold values of T, which may leave or be dropped on another thread, hence `T: Send`.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: Valid: atomics and parkers are Sync. Exclusive: a slot is touched only by the one end
// that owns its position (module header), so no two threads share a `&T`, and `T: Send` suffices.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    #[inline(always)]
    pub(super) fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// The slot of `position`. Who calls must own that position before it touches the content.
    #[inline(always)]
    pub(super) fn slot(&self, position: usize) -> &Slot<T> {
        let index = position & (self.slots.len() - 1);
        // SAFETY: Valid: the length is a power of two, at least 1 (checked when the lane was made),
        // so the masked index is below it. Exclusive: only a shared reference to the cell comes of
        // it.
        unsafe { self.slots.get_unchecked(index) }
    }

    /// Writes `value` into the slot of `position`.
    ///
    /// # Safety
    ///
    /// The caller is the producer, and `position` is free: at or after the tail, and less than a
    /// whole ring after a head that it read with Acquire.
    #[inline(always)]
    pub(super) unsafe fn write(&self, position: usize, value: T) {
        self.slot(position).with_mut(|slot| {
            // SAFETY: Valid: the slot lives as long as `self`. Exclusive: by this function's
            // contract the consumer has given the slot back, and the tail has not yet passed it on.
            let slot = unsafe { &mut *slot };
            slot.write(value);
        });
    }

    /// Moves the value of `position` out; the caller owns it and never reads it again.
    ///
    /// # Safety
    ///
    /// The slot of `position` holds a value that nobody has moved out, and no other thread touches
    /// it.
    #[inline(always)]
    pub(super) unsafe fn read(&self, position: usize) -> T {
        self.slot(position).with(|slot| {
            // SAFETY: Valid: the slot lives as long as `self`. Exclusive: by this function's
            // contract.
            let slot = unsafe { &*slot };
            // SAFETY: Valid and exclusive: by this function's contract the value is there, and is
            // ours.
            unsafe { slot.assume_init_read() }
        })
    }

    /// What a consumer does that leaves with `head` as its next position: tells it, wakes a parked
    /// producer, and drops what is inside at that moment.
    ///
    /// Not inlined, and by value, so that the optimizer may keep an end's fields in registers.
    ///
    /// # Safety
    ///
    /// The caller is the consumer, `head` is its position, and it reads no value afterwards.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn consumer_leaves(&self, head: usize) {
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
                    let value = unsafe { shared.read(position) };
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
        self.producer_seat.parker.wake();
    }

    /// What a leaving producer does: tells it, and wakes a parked consumer. Not inlined, as above.
    #[cold]
    #[inline(never)]
    pub(super) fn producer_leaves(&self) {
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
        self.consumer_seat.wake();
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
        drop(unsafe { self.read(head) });
        true
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

/// One end's count of the `Arc` around a lane.
///
/// It is a bare pointer because the drop of an `Arc` field takes that field's address, which keeps
/// the whole end in memory instead of registers (bench row `lanes/round_trip`: a third slower).
pub(super) struct Handle<T>(NonNull<Shared<T>>);

// SAFETY: Valid: it stands for an `Arc<Shared<T>>`, which is Send where `Shared<T>` is Send and
// Sync. Exclusive: it gives shared references only.
unsafe impl<T: Send> Send for Handle<T> {}
// SAFETY: as for Send.
unsafe impl<T: Send> Sync for Handle<T> {}

impl<T> Handle<T> {
    fn new(shared: Arc<Shared<T>>) -> Self {
        let shared = Arc::into_raw(shared).cast_mut();
        Self(NonNull::new(shared).expect("an Arc is never null"))
    }

    #[cold]
    #[inline(never)]
    fn release(shared: NonNull<Shared<T>>) {
        // SAFETY: Valid: the pointer came from `Arc::into_raw`. Exclusive: each handle gives its
        // one count back once, in its drop.
        drop(unsafe { Arc::from_raw(shared.as_ptr()) });
    }
}

impl<T> Deref for Handle<T> {
    type Target = Shared<T>;

    #[inline(always)]
    fn deref(&self) -> &Shared<T> {
        // SAFETY: Valid: this handle's count keeps the lane alive. Exclusive: only shared
        // references to it are ever made while a handle lives.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Drop for Handle<T> {
    #[inline]
    fn drop(&mut self) {
        Self::release(self.0);
    }
}

#[cfg(all(test, not(corelane_loom)))]
mod tests {
    use super::{CAPACITY_MAX, reserve};
    use crate::LaneError;

    #[test]
    fn largest_capacity_is_2_to_the_31() {
        assert!(reserve::<()>(CAPACITY_MAX).is_ok());
        let above = CAPACITY_MAX << 1;
        assert_eq!(reserve::<()>(above).err(), Some(LaneError::Capacity(above)));
    }

    #[test]
    fn slots_without_memory_are_an_error() {
        let slots = reserve::<[u64; 1 << 40]>(CAPACITY_MAX);
        assert_eq!(slots.err(), Some(LaneError::Memory(CAPACITY_MAX)));
    }
}
