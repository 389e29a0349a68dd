//! A list of many tasks that wait for room, served in the order of their coming.
//!
//! # How it is used
//!
//! Who makes room calls [`WaitList::notify`] with a function that counts the free units. Who finds
//! no room polls its own [`Waiter`] until Ready: it then holds a *grant*, a right of way and no
//! room itself. It takes the room by the primitive's own means, and calls [`Waiter::leave`]; when
//! somebody who did not wait took it first, [`Waiter::retry`] goes back to the old place. A waiter
//! that gives up calls `leave` too, which passes its grant on. Who has not waited yet and finds
//! [`WaitList::is_idle`] false polls a waiter at once instead of overtaking those who wait.
//!
//! ```text
//! // poll of a future that pushes
//! if self.waiter.is_new() && list.is_idle() { if try_push() { return Ready } }
//! loop (bounded) {
//!     ready!(self.waiter.poll(list, 1, || ring.free(), cx));
//!     if try_push() { self.waiter.leave(list, || ring.free()); return Ready }
//!     self.waiter.retry(list, || ring.free());
//! }
//! // drop of that future
//! self.waiter.leave(list, || ring.free());
//! ```
//!
//! To end all waits, let the count say `usize::MAX` for good and notify: everybody is granted, and
//! finds out the rest by itself.
//!
//! # Rules
//!
//! Grants are given in order, each exactly what its waiter needs, and all grants that are out never
//! exceed the room counted. A grant is out until its waiter leaves, hence *after* the room is
//! taken, and leaving counts anew: what a count missed meanwhile is granted then. With nobody on
//! the list, `notify` is a fence and one load. The lock guards the list alone; it is taken by who
//! waits and by who finds waiters, never when nobody waits, and neither wakers nor drops run in it.
//! A waker is read in place (see [`Parker`]), and its seat stays first among those to be rung until
//! it was: a thread stopped in between hangs nobody, the next one rings again. Each waiter has
//! one allocation, its seat. Models: `tests/loom_waiters.rs`.

use crate::panics::Panics;
use crate::park::Parker;
use crate::sync::{AtomicBool, AtomicUsize, Mutex, MutexGuard, Ordering, Site, fence, lock};
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Places that an empty list keeps.
const PLACES_KEPT: usize = 64;

/// Tasks that wait for room.
pub struct WaitList {
    /// How many are on the list, with or without a grant. Changes under the lock.
    present: AtomicUsize,
    /// Units of all grants that are out. Changes under the lock.
    granted: AtomicUsize,
    queue: Mutex<Queue>,
}

impl Default for WaitList {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for WaitList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WaitList")
            .field("is_idle", &self.is_idle())
            .finish_non_exhaustive()
    }
}

impl WaitList {
    /// A list on which nobody waits.
    pub fn new() -> Self {
        Self {
            present: AtomicUsize::new(0),
            granted: AtomicUsize::new(0),
            queue: Mutex::new(Queue::default()),
        }
    }

    /// Whether nobody waits, as far as this thread can see. A hint that costs one load.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.present.load(Ordering::Relaxed) == 0
    }

    /// Units of all grants that are out, as far as this thread can see. A hint that costs one load.
    #[inline]
    pub(crate) fn granted(&self) -> usize {
        self.granted.load(Ordering::Relaxed)
    }

    /// Grants what is free to those who wait, and returns how many this call woke.
    ///
    /// Call it after the room was made. `free` counts the units that are free now; it runs in the
    /// lock, so it reads atomics and nothing else. With nobody waiting this costs a SeqCst fence
    /// and a load, and `free` is not called.
    ///
    /// # Panics
    ///
    /// If a waker does, after all others were called.
    #[inline]
    pub fn notify(&self, free: impl FnOnce() -> usize) -> usize {
        fence(Site::WaitNotifyFence);
        self.notify_after_fence(free)
    }

    /// [`notify`](Self::notify) for a thread that has fenced since it made the room.
    #[inline]
    pub fn notify_after_fence(&self, free: impl FnOnce() -> usize) -> usize {
        if self.is_idle() {
            return 0;
        }
        self.serve(lock(&self.queue), free)
    }

    /// Grants what is free, then rings who has a grant and was not rung. Frees the lock first.
    #[cold]
    #[inline(never)]
    fn serve<'a>(
        &'a self,
        mut queue: MutexGuard<'a, Queue>,
        free: impl FnOnce() -> usize,
    ) -> usize {
        queue.grant(free());
        // Relaxed: a hint. Whoever takes what another was granted sends that one back to its place.
        self.granted.store(queue.granted, Ordering::Relaxed);
        let (mut woken, mut panics, mut rung) = (0, Panics::default(), None);
        // Ends: each turn takes one off, and only a grant adds one.
        while let Some((serial, seat)) = queue.to_ring.front().cloned() {
            drop(queue);
            // It stays first until it was rung, so that whoever comes by rings it too if this
            // thread stops here. A waker that panics counts as rung: it would keep the others.
            if panics.run(|| seat.parker.wake()) == Some(true) {
                woken += 1;
            }
            // The last count of a seat drops its waker, foreign code too: never in the lock.
            panics.run(|| drop(rung.replace(seat)));
            queue = lock(&self.queue);
            queue.rung(serial);
        }
        drop(queue);
        panics.run(|| drop(rung));
        panics.resume();
        woken
    }
}

/// One task's place on a list, from its first poll until it leaves. Its owner calls `leave` before
/// it drops this.
#[derive(Default)]
pub struct Waiter {
    seat: Option<Arc<Seat>>,
}

impl Waiter {
    /// A waiter that is on no list.
    pub const fn new() -> Self {
        Self { seat: None }
    }

    /// Whether it is on no list.
    pub fn is_new(&self) -> bool {
        self.seat.is_none()
    }

    /// Waits for a grant of `need` units, which stays with this waiter until `leave` or `retry`.
    ///
    /// The first call takes the last place on the list. `free` is as for [`WaitList::notify`], and
    /// `need` is never more than it can ever say. On Pending the waker is kept and called once.
    ///
    /// # Panics
    ///
    /// If the waker of another task does that this call wakes. The place is then kept.
    pub fn poll(
        &mut self,
        list: &WaitList,
        need: usize,
        free: impl FnOnce() -> usize,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        if self.seat.is_none() {
            self.enter(list, need, free);
        }
        let seat = self.seat.as_ref().expect("it has just entered");
        if seat.is_granted() {
            seat.parker.unpark();
            return Poll::Ready(());
        }
        seat.parker.park(cx.waker());
        if seat.is_granted() {
            seat.parker.unpark();
            return Poll::Ready(());
        }
        Poll::Pending
    }

    /// Leaves the list, with the room taken or given up, and passes on what is free.
    ///
    /// # Panics
    ///
    /// As [`WaitList::notify`], except while the thread unwinds.
    pub fn leave(&mut self, list: &WaitList, free: impl FnOnce() -> usize) {
        let Some(seat) = self.seat.take() else { return };
        // Whoever still looks at the seat finds nobody asleep.
        seat.parker.unpark();
        let mut queue = lock(&list.queue);
        queue.remove(&seat);
        let present = list.present.load(Ordering::Relaxed);
        // Relaxed: who reads it late finds an empty list behind the lock.
        list.present.store(present - 1, Ordering::Relaxed);
        list.serve(queue, free);
    }

    /// Gives the grant back, since somebody else took the room, and waits again at the old place.
    ///
    /// # Panics
    ///
    /// As [`WaitList::notify`].
    pub fn retry(&mut self, list: &WaitList, free: impl FnOnce() -> usize) {
        let Some(seat) = &self.seat else { return };
        let mut queue = lock(&list.queue);
        queue.put_back(seat);
        list.serve(queue, free);
    }

    fn enter(&mut self, list: &WaitList, need: usize, free: impl FnOnce() -> usize) {
        let mut queue = lock(&list.queue);
        let seat = queue.add(need);
        // Kept before anything can panic, so that whoever drops this leaves properly.
        self.seat = Some(seat);
        let present = list.present.load(Ordering::Relaxed);
        list.present.store(present + 1, Ordering::Relaxed);
        // Partner WaitNotifyFence: whoever makes room sees this waiter, or this sees the room.
        fence(Site::WaitEnterFence);
        list.serve(queue, free);
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        debug_assert!(
            self.seat.is_none() || std::thread::panicking(),
            "a waiter is dropped on the list"
        );
    }
}

/// What one waiter and those who serve it share.
struct Seat {
    /// Its place: smaller is older. Never repeats.
    ticket: u64,
    need: usize,
    /// Changes under the lock. Relaxed suffices: the parker's fences order it with the park, and
    /// nothing else is read because of it.
    granted: AtomicBool,
    parker: Parker,
}

impl Seat {
    fn is_granted(&self) -> bool {
        self.granted.load(Ordering::Relaxed)
    }
}

#[derive(Default)]
struct Queue {
    /// Without a grant, by ticket.
    waiting: VecDeque<Arc<Seat>>,
    /// With a grant, until somebody has rung them; each under the number of its grant, so that who
    /// has rung for an earlier one does not take it off.
    to_ring: VecDeque<(u64, Arc<Seat>)>,
    /// Units of all grants that are out.
    granted: usize,
    /// Tickets and grants given so far.
    numbers: u64,
}

impl Queue {
    fn add(&mut self, need: usize) -> Arc<Seat> {
        let seat = Arc::new(Seat {
            ticket: self.number(),
            need,
            granted: AtomicBool::new(false),
            parker: Parker::new(),
        });
        self.waiting.push_back(Arc::clone(&seat));
        seat
    }

    /// Grants to those in front, as long as all that is granted fits in `free`.
    fn grant(&mut self, free: usize) {
        let mut left = free.saturating_sub(self.granted);
        while self.waiting.front().is_some_and(|seat| seat.need <= left) {
            let Some(seat) = self.waiting.pop_front() else {
                break;
            };
            left -= seat.need;
            self.granted += seat.need;
            seat.granted.store(true, Ordering::Relaxed);
            let serial = self.number();
            self.to_ring.push_back((serial, seat));
        }
        if self.waiting.is_empty() {
            shrink(&mut self.waiting);
        }
    }

    /// The first one was rung for its grant `serial`, unless another thread was quicker.
    fn rung(&mut self, serial: u64) {
        let first = self.to_ring.front();
        if first.is_some_and(|(number, _)| *number == serial) {
            self.to_ring.pop_front();
        }
        if self.to_ring.is_empty() {
            shrink(&mut self.to_ring);
        }
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    fn remove(&mut self, seat: &Arc<Seat>) {
        if seat.is_granted() {
            self.granted -= seat.need;
            self.to_ring.retain(|(_, other)| !Arc::ptr_eq(other, seat));
        } else if let Ok(place) = self.place(seat.ticket) {
            self.waiting.remove(place);
        }
    }

    fn put_back(&mut self, seat: &Arc<Seat>) {
        if !seat.is_granted() {
            return;
        }
        self.remove(seat);
        seat.granted.store(false, Ordering::Relaxed);
        if let Err(place) = self.place(seat.ticket) {
            self.waiting.insert(place, Arc::clone(seat));
        }
    }

    fn place(&self, ticket: u64) -> Result<usize, usize> {
        self.waiting
            .binary_search_by_key(&ticket, |seat| seat.ticket)
    }
}

/// Gives memory back after a burst.
fn shrink<P>(places: &mut VecDeque<P>) {
    if places.capacity() > PLACES_KEPT {
        places.shrink_to(PLACES_KEPT);
    }
}
