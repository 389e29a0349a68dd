//! Atomics and cells, from std or, under `--cfg corelane_loom`, from loom.
//!
//! No other file of this crate names an atomic or a cell, so that the models run the production
//! types. Every ordering and fence that matters has a [`Site`]. In ordinary builds a site vanishes;
//! in a model build the environment variable `CORELANE_WEAKEN` names one site that becomes Relaxed
//! (a fence: nothing), and `tests/loom_mutants.rs` demands that some model then fails.

pub(crate) use imp::{Arc, AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Swap, UnsafeCell, fence};
pub(crate) use imp::{Mutex, MutexGuard, lock};
pub(crate) use imp::{Payload, pause, yield_now};
pub(crate) use imp::{ThreadId, thread_id};
pub(crate) use imp::{acquire_fence, release_fence};
pub(crate) use std::sync::atomic::Ordering;

mod newest;

pub(crate) use newest::{Followed, Home, Newest};

macro_rules! sites {
    ($($(#[$doc:meta])* $site:ident = $name:literal,)+) => {
        /// A place whose ordering a model must depend on.
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Site { $($(#[$doc])* $site,)+ }

        #[cfg(corelane_loom)]
        impl Site {
            /// The names of all sites.
            pub(crate) const NAMES: &'static [&'static str] = &[$($name,)+];

            fn name(self) -> &'static str {
                match self { $(Site::$site => $name,)+ }
            }
        }
    };
}

sites! {
    /// The producer publishes its position; partner: `LaneReadTail`.
    LanePublish = "lane.publish",
    /// The consumer reads the producer's position.
    LaneReadTail = "lane.read_tail",
    /// The consumer hands slots back; partner: `LaneReadHead`.
    LaneRelease = "lane.release",
    /// The producer reads the consumer's position.
    LaneReadHead = "lane.read_head",
    /// The producer leaves; partner: `LaneReadLeft`.
    LaneLeave = "lane.leave",
    /// The consumer reads whether the producer has left.
    LaneReadLeft = "lane.read_left",
    /// A snapshot of the control plane is there; partner: `TopicReserveFence`.
    ControlTurn = "control.turn",
    /// The tail moves on; partner: `TopicReadTail`.
    TopicMoveTail = "topic.move_tail",
    /// A reader or a writer reads the tail.
    TopicReadTail = "topic.read_tail",
    /// Nodes are allocated; partner: `TopicReadChunk`.
    TopicPutChunk = "topic.put_chunk",
    /// Somebody looks for a node.
    TopicReadChunk = "topic.read_chunk",
    /// A value is appended to a topic's log; partner: `TopicReadSlot`.
    TopicAppend = "topic.append",
    /// A reader or a writer reads the word of a slot.
    TopicReadSlot = "topic.read_slot",
    /// Between the tail and the registered parts; partner: `TopicJoinFence`.
    TopicReserveFence = "topic.reserve_fence",
    /// Between a part's registration and the tail where it starts.
    TopicJoinFence = "topic.join_fence",
    /// Between an append and the look for windows and parked parts; partner: `TopicWindowFence`,
    /// and `ParkMarkFence` of a parked part.
    TopicAppendFence = "topic.append_fence",
    /// Between a part's window and its look at what that holds.
    TopicWindowFence = "topic.window_fence",
    /// Between a node left with a part and the look whether that part has left.
    TopicRetireFence = "topic.retire_fence",
    /// Between a part's leaving and its look for nodes left with it; partner: `TopicRetireFence`,
    /// and `TopicReadWindowed`.
    TopicLeaveFence = "topic.leave_fence",
    /// A part lets writers go on; partner: `TopicReadLimit`.
    TopicFreeRoom = "topic.free_room",
    /// A writer reads how far it may go.
    TopicReadLimit = "topic.read_limit",
    /// A part moves its window; partner: `TopicReadWindow`.
    TopicMoveWindow = "topic.move_window",
    /// A writer reads what a part holds.
    TopicReadWindow = "topic.read_window",
    /// A writer reads whether there are windows.
    TopicReadWindowed = "topic.read_windowed",
    /// A node goes on a stack; partner: `TopicStackTake`.
    TopicStackPut = "topic.stack_put",
    /// A node comes off a stack.
    TopicStackTake = "topic.stack_take",
    /// A publisher keeps a node; partner: `TopicSpareTake`.
    TopicSpareKeep = "topic.spare_keep",
    /// Another thread of the publisher takes it.
    TopicSpareTake = "topic.spare_take",
    /// The value of a number is appended; partner: `TopicReadSlot`.
    NumberedAppend = "subscription.append",
    /// The owner marks itself asleep; partner: `ParkReadMark`.
    ParkMark = "park.mark",
    /// Between the owner's mark and its last look for messages; partner: `ParkWakeFence`.
    ParkMarkFence = "park.mark_fence",
    /// Between a message and the look at the mark.
    ParkWakeFence = "park.wake_fence",
    /// A waker reads the mark.
    ParkReadMark = "park.read_mark",
    /// A producer of `Ring64` shows its value; partner: `Ring64ReadSlot`.
    Ring64Publish = "ring64.publish",
    /// The consumer of `Ring64` looks at a slot.
    Ring64ReadSlot = "ring64.read_slot",
    /// It looks at several slots, for a fold; partner: `Ring64Publish`.
    Ring64ReadRun = "ring64.read_run",
    /// The consumer of `Ring64` hands slots back; partner: `Ring64ReadHead`.
    Ring64Release = "ring64.release",
    /// A producer of `Ring64` reads the consumer's position.
    Ring64ReadHead = "ring64.read_head",
    /// A producer tells the others which head it has read; partner: `Ring64ReadSeen`.
    Ring64StoreSeen = "ring64.store_seen",
    /// A producer of `Ring64` reads the head that another one has read.
    Ring64ReadSeen = "ring64.read_seen",
    /// Between a waiter's place on the list and its count of the room; partner: `WaitNotifyFence`.
    WaitEnterFence = "wait.enter_fence",
    /// Between the room that was made and the look for waiters.
    WaitNotifyFence = "wait.notify_fence",
    /// A writer takes a slot of a plain signal; partner: `SignalFree`.
    SignalTake = "signal.take",
    /// Whoever has replaced the value of a slot frees it.
    SignalFree = "signal.free",
    /// Between a writer's taking a slot and its first store there; partner: `SignalCopyFence`.
    SignalFillFence = "signal.fill_fence",
    /// A writer publishes its slot; partner: `SignalRead`.
    SignalPublish = "signal.publish",
    /// A reader or writer reads which slot is the newest.
    SignalRead = "signal.read",
    /// Between a reader's copy of a slot and its second look at the word.
    SignalCopyFence = "signal.copy_fence",
    /// Between a set and the look for parked feeds; partner: `ParkMarkFence`.
    SignalSetFence = "signal.set_fence",
    /// A producer of `Ring` shows its value; partner: `ClaimReadSlot`.
    ClaimPublish = "claim.publish",
    /// A producer of `Ring` begins to write a slot, or somebody skips it; partner: `ClaimReadFree`.
    ClaimChange = "claim.change",
    /// Somebody was quicker with a claimed place of `Ring`; partner: `ClaimChange`.
    ClaimReadChange = "claim.read_change",
    /// The consumer of `Ring` looks at a slot.
    ClaimReadSlot = "claim.read_slot",
    /// The consumer of `Ring` hands a slot back; partner: `ClaimReadFree`.
    ClaimFree = "claim.free",
    /// A producer of `Ring` looks whether the next slot is free.
    ClaimReadFree = "claim.read_free",
    /// Somebody notes since when a claim holds him up; partner: `SightRead`.
    SightNote = "sight.note",
    /// Somebody who is held up looks who was first.
    SightRead = "sight.read",
}

/// The Acquire of `site`.
#[inline(always)]
pub(crate) fn acquire(site: Site) -> Ordering {
    imp::order(site, Ordering::Acquire)
}

/// The Release of `site`.
#[inline(always)]
pub(crate) fn release(site: Site) -> Ordering {
    imp::order(site, Ordering::Release)
}

#[cfg(not(corelane_loom))]
mod imp {
    use super::{Ordering, Site};
    use arc_swap::ArcSwapOption;
    pub(crate) use std::sync::Arc;
    use std::sync::PoisonError;
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize};
    pub(crate) use std::sync::{Mutex, MutexGuard};
    pub(crate) use std::thread::{ThreadId, yield_now};

    /// Who the calling thread is: no two threads of a process ever have one id.
    pub(crate) fn thread_id() -> ThreadId {
        std::thread::current().id()
    }

    /// Lets the other hardware thread, and who has won a race, go on for `times` pauses.
    pub(crate) fn pause(times: u32) {
        for _ in 0..times {
            std::hint::spin_loop();
        }
    }

    /// Locks. A lock here is never poisoned by more than a failed allocation: no foreign code runs
    /// in it, and what it guards is whole between any two steps that can panic.
    pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline(always)]
    pub(super) fn order(_site: Site, order: Ordering) -> Ordering {
        order
    }

    /// A SeqCst fence.
    #[inline(always)]
    pub(crate) fn fence(_site: Site) {
        std::sync::atomic::fence(Ordering::SeqCst);
    }

    /// An Acquire fence.
    #[inline(always)]
    pub(crate) fn acquire_fence(_site: Site) {
        std::sync::atomic::fence(Ordering::Acquire);
    }

    /// A Release fence.
    #[inline(always)]
    pub(crate) fn release_fence(_site: Site) {
        std::sync::atomic::fence(Ordering::Release);
    }

    /// `std`'s cell with loom's closure calls.
    pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        #[inline(always)]
        pub(crate) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
            read(self.0.get())
        }

        #[inline(always)]
        pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
            write(self.0.get())
        }
    }

    /// A word that has one owner at a time, who changes by other words' orderings: in production a
    /// relaxed atomic, since it needs no ordering of its own. Under loom it checks that.
    pub(crate) struct Payload(AtomicU64);

    impl Payload {
        pub(crate) const fn new() -> Self {
            Self(AtomicU64::new(0))
        }

        /// Fills the word. Its owner's.
        #[inline(always)]
        pub(crate) fn put(&self, value: u64) {
            self.0.store(value, Ordering::Relaxed);
        }

        /// What the word holds. Its owner's, once after each `put`.
        #[inline(always)]
        pub(crate) fn take(&self) -> u64 {
            self.0.load(Ordering::Relaxed)
        }
    }

    /// A place for one shared value that readers use in place, without a lock.
    pub(crate) struct Swap<T>(ArcSwapOption<T>);

    impl<T> Swap<T> {
        pub(crate) fn empty() -> Self {
            Self(ArcSwapOption::empty())
        }

        /// Stores `value`, and returns what it has replaced.
        pub(crate) fn store(&self, value: Option<std::sync::Arc<T>>) -> Option<std::sync::Arc<T>> {
            self.0.swap(value)
        }

        pub(crate) fn read<R>(&self, read: impl FnOnce(Option<&T>) -> R) -> R {
            let value = self.0.load();
            read(value.as_deref())
        }
    }
}

#[cfg(corelane_loom)]
mod imp {
    use super::{Ordering, Site};
    use crate::model::count_step;
    use crate::model::is_weakened;
    pub(crate) use loom::sync::atomic::AtomicPtr;
    pub(crate) use loom::sync::{Arc, Mutex, MutexGuard};
    pub(crate) use loom::thread::{ThreadId, yield_now};
    use std::sync::PoisonError;

    /// Which thread of the model this is: all of them run on one of the process.
    pub(crate) fn thread_id() -> ThreadId {
        loom::thread::current().id()
    }

    /// Loom's way to say that another thread has to go on, and that its stores are seen then.
    pub(crate) fn pause(_times: u32) {
        yield_now();
    }

    /// A model of it must not park a thread by loom's `unpark`, which goes through a lock that the
    /// thread is blocked at (see `tests/models/bell.rs`).
    #[track_caller]
    pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        count_step();
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn weakened(site: Site) -> bool {
        is_weakened(site.name())
    }

    pub(super) fn order(site: Site, order: Ordering) -> Ordering {
        if weakened(site) {
            Ordering::Relaxed
        } else {
            order
        }
    }

    #[track_caller]
    pub(crate) fn fence(site: Site) {
        count_step();
        crate::model::meet_fence();
        if !weakened(site) {
            loom::sync::atomic::fence(Ordering::SeqCst);
        }
    }

    #[track_caller]
    pub(crate) fn acquire_fence(site: Site) {
        count_step();
        if !weakened(site) {
            loom::sync::atomic::fence(Ordering::Acquire);
        }
    }

    #[track_caller]
    pub(crate) fn release_fence(site: Site) {
        count_step();
        if !weakened(site) {
            loom::sync::atomic::fence(Ordering::Release);
        }
    }

    macro_rules! counted_atomic {
        ($name:ident: $value:ty, store is $store:ident) => {
            /// Loom's atomic; each access counts as a step.
            pub(crate) struct $name(loom::sync::atomic::$name);

            impl $name {
                #[track_caller]
                pub(crate) fn new(value: $value) -> Self {
                    Self(loom::sync::atomic::$name::new(value))
                }

                #[track_caller]
                pub(crate) fn load(&self, order: Ordering) -> $value {
                    count_step();
                    self.0.load(order)
                }

                #[track_caller]
                pub(crate) fn store(&self, value: $value, order: Ordering) {
                    count_step();
                    self.0.$store(value, order);
                }
            }
        };
    }

    counted_atomic!(AtomicBool: bool, store is store);
    counted_atomic!(AtomicUsize: usize, store is store);
    // A store to a word that other threads compare-exchange is modelled by a swap: loom leaves a
    // plain store and another thread's exchange without an order of modification, so that an
    // exchange could succeed on a value already replaced, which no machine does (C++ [intro.races],
    // coherence). The swap adds no ordering that a reader could lean on: every store here that
    // publishes is a Release.
    counted_atomic!(AtomicU64: u64, store is swap);

    impl AtomicU64 {
        #[track_caller]
        pub(crate) fn compare_exchange(
            &self,
            current: u64,
            new: u64,
            success: Ordering,
            failure: Ordering,
        ) -> Result<u64, u64> {
            count_step();
            self.0.compare_exchange(current, new, success, failure)
        }
    }

    macro_rules! counted_updates {
        ($($update:ident),+) => {
            impl AtomicU64 {
                $(#[track_caller]
                pub(crate) fn $update(&self, value: u64, order: Ordering) -> u64 {
                    count_step();
                    self.0.$update(value, order)
                })+
            }
        };
    }

    counted_updates!(
        fetch_add, fetch_and, fetch_max, fetch_min, fetch_or, fetch_sub, swap
    );

    /// The word, and whether it is filled. Who fills or takes must find it as the other side left
    /// it: a relaxed load may return an older answer wherever nothing has ordered the two.
    pub(crate) struct Payload {
        value: loom::sync::atomic::AtomicU64,
        filled: loom::sync::atomic::AtomicBool,
    }

    impl Payload {
        #[track_caller]
        pub(crate) fn new() -> Self {
            Self {
                value: loom::sync::atomic::AtomicU64::new(0),
                filled: loom::sync::atomic::AtomicBool::new(false),
            }
        }

        #[track_caller]
        pub(crate) fn put(&self, value: u64) {
            count_step();
            let filled = self.filled.load(Ordering::Relaxed);
            assert!(!filled, "filled before it was seen taken");
            self.value.store(value, Ordering::Relaxed);
            self.filled.store(true, Ordering::Relaxed);
        }

        #[track_caller]
        pub(crate) fn take(&self) -> u64 {
            count_step();
            let filled = self.filled.load(Ordering::Relaxed);
            assert!(filled, "taken before it was seen filled");
            let value = self.value.load(Ordering::Relaxed);
            self.filled.store(false, Ordering::Relaxed);
            value
        }
    }

    pub(crate) use loom::cell::UnsafeCell;

    /// A locked model of arc-swap: all values ever stored, and the index of the newest as an
    /// atomic, so that a reader may see an older one exactly where the memory model lets it.
    pub(crate) struct Swap<T> {
        values: std::sync::Mutex<Vec<Option<std::sync::Arc<T>>>>,
        newest: loom::sync::atomic::AtomicUsize,
    }

    impl<T> Swap<T> {
        #[track_caller]
        pub(crate) fn empty() -> Self {
            let newest = loom::sync::atomic::AtomicUsize::new(0);
            Self {
                values: std::sync::Mutex::new(vec![None]),
                newest,
            }
        }

        /// Nothing is given back: readers of the model still find it.
        #[track_caller]
        pub(crate) fn store(&self, value: Option<std::sync::Arc<T>>) -> Option<std::sync::Arc<T>> {
            count_step();
            let index = {
                let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
                values.push(value);
                values.len() - 1
            };
            self.newest.swap(index, Ordering::AcqRel);
            None
        }

        #[track_caller]
        pub(crate) fn read<R>(&self, read: impl FnOnce(Option<&T>) -> R) -> R {
            count_step();
            let index = self.newest.load(Ordering::Acquire);
            let value = self.values.lock().unwrap_or_else(PoisonError::into_inner)[index].clone();
            read(value.as_deref())
        }
    }
}
