//! Atomics and cells, from std or, under `--cfg corelane_loom`, from loom.
//!
//! No other file of this crate names an atomic or a cell, so that the models run the production
//! types. Every ordering and fence that matters has a [`Site`]. In ordinary builds a site vanishes;
//! in a model build the environment variable `CORELANE_WEAKEN` names one site that becomes Relaxed
//! (a fence: nothing), and `tests/loom_mutants.rs` demands that some model then fails.

pub(crate) use imp::{Arc, AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Swap, UnsafeCell, fence};
pub(crate) use imp::{Mutex, MutexGuard, lock};
pub(crate) use imp::{ThreadId, thread_id};
pub(crate) use std::sync::atomic::Ordering;

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
    /// Between a part's leaving and its look for nodes left with it; partner: `TopicRetireFence`.
    TopicLeaveFence = "topic.leave_fence",
    /// A part lets writers go on; partner: `TopicReadLimit`.
    TopicFreeRoom = "topic.free_room",
    /// A writer reads how far it may go.
    TopicReadLimit = "topic.read_limit",
    /// A part moves its window; partner: `TopicReadWindow`.
    TopicMoveWindow = "topic.move_window",
    /// A writer reads what a part holds.
    TopicReadWindow = "topic.read_window",
    /// A part with windows has left; partner: `TopicReadWindowed`.
    TopicLeaveWindows = "topic.leave_windows",
    /// A writer reads whether there are windows.
    TopicReadWindowed = "topic.read_windowed",
    /// A writer notes a node that is to leave its slot; partner: `TopicReadKept`.
    TopicKeep = "topic.keep",
    /// A part reads which node has left its slot.
    TopicReadKept = "topic.read_kept",
    /// A node goes on a stack; partner: `TopicStackTake`.
    TopicStackPut = "topic.stack_put",
    /// A node comes off a stack.
    TopicStackTake = "topic.stack_take",
    /// A publisher keeps a node; partner: `TopicSpareTake`.
    TopicSpareKeep = "topic.spare_keep",
    /// Another thread of the publisher takes it.
    TopicSpareTake = "topic.spare_take",
    /// The owner marks itself asleep; partner: `ParkReadMark`.
    ParkMark = "park.mark",
    /// Between the owner's mark and its last look for messages; partner: `ParkWakeFence`.
    ParkMarkFence = "park.mark_fence",
    /// Between a message and the look at the mark.
    ParkWakeFence = "park.wake_fence",
    /// A waker reads the mark.
    ParkReadMark = "park.read_mark",
    /// Between a waiter's place on the list and its count of the room; partner: `WaitNotifyFence`.
    WaitEnterFence = "wait.enter_fence",
    /// Between the room that was made and the look for waiters.
    WaitNotifyFence = "wait.notify_fence",
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
    pub(crate) use std::thread::ThreadId;

    /// Who the calling thread is: no two threads of a process ever have one id.
    pub(crate) fn thread_id() -> ThreadId {
        std::thread::current().id()
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

    /// A place for one shared value that readers use in place, without a lock.
    pub(crate) struct Swap<T>(ArcSwapOption<T>);

    impl<T> Swap<T> {
        pub(crate) fn empty() -> Self {
            Self(ArcSwapOption::empty())
        }

        pub(crate) fn store(&self, value: Option<std::sync::Arc<T>>) {
            self.0.store(value);
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
    pub(crate) use loom::thread::ThreadId;
    use std::sync::PoisonError;

    /// Which thread of the model this is: all of them run on one of the process.
    pub(crate) fn thread_id() -> ThreadId {
        loom::thread::current().id()
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

        #[track_caller]
        pub(crate) fn swap(&self, value: u64, order: Ordering) -> u64 {
            count_step();
            self.0.swap(value, order)
        }

        #[track_caller]
        pub(crate) fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
            count_step();
            self.0.fetch_add(value, order)
        }

        #[track_caller]
        pub(crate) fn fetch_sub(&self, value: u64, order: Ordering) -> u64 {
            count_step();
            self.0.fetch_sub(value, order)
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

        #[track_caller]
        pub(crate) fn store(&self, value: Option<std::sync::Arc<T>>) {
            count_step();
            let index = {
                let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
                values.push(value);
                values.len() - 1
            };
            self.newest.swap(index, Ordering::AcqRel);
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
