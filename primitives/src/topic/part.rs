//! What one shard's subscribers of one kind share with the publishers.
//!
//! Owner: one thread, or whoever holds the one detached feed. Publishers read the limit and the
//! window, and put words into `kept` and nodes on `retired`; everything else
//! in [`Local`] is the owner's.

use super::local::{FeedId, Local};
use super::pool::Stack;
use super::settings::TopicOverflow;
use super::word::{NodeIndex, Word};
use crate::pad::CachePadded;
use crate::sync::{AtomicU64, Ordering, Site, ThreadId, acquire, fence, release};
use std::cell::RefCell;
use std::sync::Arc;
use thread_aware::affinity::Affinity;

/// A window that holds nothing.
const NO_WINDOW: u64 = u64::MAX;
/// The window of a part whose last feed is gone.
const LEFT: u64 = u64::MAX - 1;

/// All parts of a log, in the order of their coming.
pub(super) struct Parts<T>(pub(super) Vec<Arc<Part<T>>>);

/// Who shares a part: the feeds of one thread, while it was at one affinity, that want the same.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    /// `None` for the part of a detached feed, which nobody joins.
    pub(super) owner: Option<(Affinity, ThreadId)>,
    /// How far behind a feed may be, in values.
    pub(super) capacity: u64,
    pub(super) overflow: TopicOverflow,
}

pub(super) struct Part<T> {
    pub(super) key: Key,
    /// The position that writers may not reach. It only grows.
    limit: CachePadded<AtomicU64>,
    /// The first of the positions whose nodes are not reused: as many as the log has slots.
    window: AtomicU64,
    window_len: u64,
    /// Nodes of the window that were put out of their slots; empty unless this part keeps the
    /// oldest values.
    kept: Box<[AtomicU64]>,
    /// Nodes that were put out of their slots while the window held them.
    pub(super) retired: Stack,
    owned: Owned<T>,
}

/// What the owner alone touches.
pub(super) struct Owned<T> {
    pub(super) local: RefCell<Local<T>>,
    /// Seats of feeds that were dropped while `local` was borrowed: a value's clone or drop, in a
    /// look, has dropped them.
    pub(super) departed: RefCell<Vec<FeedId>>,
}

// SAFETY: Valid: `Local` holds values and numbers, all of them Send if T is; the rest is
// atomics. Exclusive: `owned` is unsafe to reach.
unsafe impl<T: Send + Sync> Send for Part<T> {}
// SAFETY: Valid: as for Send. Exclusive: `owned` is unsafe to reach, and its caller vouches to be
// the owner; the rest is atomics.
unsafe impl<T: Send + Sync> Sync for Part<T> {}

impl<T> Part<T> {
    /// A part that holds nothing and stops writers at `limit`.
    pub(super) fn new(key: Key, slots: u64, limit: u64, local: Local<T>) -> Self {
        let kept = match key.overflow {
            TopicOverflow::DropNew => slots,
            TopicOverflow::Backpressure | TopicOverflow::DropOldest => 0,
        };
        Self {
            key,
            limit: CachePadded::new(AtomicU64::new(limit)),
            window: AtomicU64::new(NO_WINDOW),
            window_len: slots,
            kept: (0..kept)
                .map(|_| AtomicU64::new(Word::EMPTY.bits()))
                .collect(),
            retired: Stack::new(),
            owned: Owned {
                local: RefCell::new(local),
                departed: RefCell::default(),
            },
        }
    }

    /// What the owner alone touches.
    ///
    /// # Safety
    ///
    /// The caller is on the owning thread, or holds the one detached feed of this part.
    pub(super) unsafe fn owned(&self) -> &Owned<T> {
        &self.owned
    }

    #[inline]
    pub(super) fn limit(&self) -> u64 {
        // Acquire, partner TopicFreeRoom: what lies a whole ring before was copied, and a part that
        // took a feed of this one over is on the control plane.
        self.limit.load(acquire(Site::TopicReadLimit))
    }

    /// Lets writers go up to `limit`. Owner only.
    pub(super) fn set_limit(&self, limit: u64) {
        self.limit.store(limit, release(Site::TopicFreeRoom));
    }

    /// Whether the node of `position` may not be reused.
    pub(super) fn protects(&self, position: u64) -> bool {
        // Acquire, partner TopicMoveWindow: what the window held before was copied.
        let window = self.window.load(acquire(Site::TopicReadWindow));
        position >= window && position - window < self.window_len
    }

    /// Holds what lies from `position` on, and fences: what is then still found in its slot, or
    /// kept, stays. Owner only.
    pub(super) fn hold(&self, position: u64) {
        // Release, partner TopicReadWindow.
        self.window.store(position, release(Site::TopicMoveWindow));
        fence(Site::TopicWindowFence);
    }

    /// Holds nothing. Owner only.
    pub(super) fn hold_nothing(&self) {
        self.window.store(NO_WINDOW, release(Site::TopicMoveWindow));
    }

    /// Holds nothing for good, and stops nobody. Owner only.
    pub(super) fn leave(&self) {
        self.window.store(LEFT, release(Site::TopicMoveWindow));
        self.set_limit(u64::MAX);
        fence(Site::TopicLeaveFence);
    }

    pub(super) fn has_left(&self) -> bool {
        self.window.load(acquire(Site::TopicReadWindow)) == LEFT
    }

    /// Notes that `node` is the one of `position`, if this part keeps the oldest values and the
    /// window holds it. Before its slot gets another node, whoever may give it one calls this.
    pub(super) fn keep(&self, position: u64, lap: u64, node: NodeIndex) {
        if self.kept.is_empty() || !self.protects(position) {
            return;
        }
        let slot = &self.kept[(position % self.window_len) as usize];
        let mut word = Word::from_bits(slot.load(Ordering::Relaxed));
        while word.is_before_lap(lap) {
            // Relaxed: the part looks here only after it has seen, with Acquire, that the slot's
            // word was exchanged behind this.
            let noted = slot.compare_exchange(
                word.bits(),
                Word::new(lap, node).bits(),
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            match noted {
                Ok(_) => return,
                Err(found) => word = Word::from_bits(found),
            }
        }
    }

    /// The node of `position`, whose slot was seen to have a later one. Owner only.
    pub(super) fn kept(&self, position: u64, lap: u64) -> Option<NodeIndex> {
        let slot = self.kept.get((position % self.window_len) as usize)?;
        let word = Word::from_bits(slot.load(Ordering::Relaxed));
        word.node().filter(|_| word.is_of_lap(lap))
    }
}
