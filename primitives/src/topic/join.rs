//! Subscribing and unsubscribing: the topic's own side of the control plane.

use super::copies::{Copies, settle};
use super::cursor::{Cursor, Look};
use super::local::{After, FeedId, Local};
use super::log::Log;
use super::part::{Key, Part, Parts};
use super::settings::TopicOverflow;
use crate::sync::{Ordering, Site, fence, thread_id};
use std::sync::Arc;
use thread_aware::affinity;

impl<T: Clone + Send + Sync> Log<T> {
    /// A seat for the calling thread, on its part for feeds of this kind or on a new one; what is
    /// left to be done stands beside it.
    pub(super) fn subscribe(
        self: &Arc<Self>,
        capacity: usize,
        overflow: TopicOverflow,
    ) -> (Cursor<T>, After) {
        let key = Key {
            owner: Some((affinity::current(), thread_id())),
            capacity: capacity as u64,
            overflow,
        };
        let found = self.control.read(|parts| {
            let mut parts = parts?.iter();
            parts.find(|part| part.key == key).cloned()
        });
        let mut after = After::default();
        if let Some(part) = found
            && let Some(id) = self.join(&part, &mut after)
        {
            return (Cursor::new(Arc::clone(self), part, id), after);
        }
        let (part, id) = self.start(key, &mut after);
        (Cursor::new(Arc::clone(self), part, id), after)
    }

    /// A seat on a part of the calling thread, unless its last feed has just left.
    fn join(self: &Arc<Self>, part: &Arc<Part<T>>, after: &mut After) -> Option<FeedId> {
        // SAFETY: Valid: the part is borrowed. Exclusive: its key names this thread, and no
        // thread has the id of another one that ever was.
        let owned = unsafe { part.owned() };
        let look = Look {
            log: self,
            part,
            owned,
        };
        let mut local = look.local();
        if local.has_left() {
            return None;
        }
        local.catch_up(self, part, after);
        Some(local.join())
    }

    /// A new part with one seat.
    fn start(&self, key: Key, after: &mut After) -> (Arc<Part<T>>, FeedId) {
        // Never more than what the limit will be, which only grows.
        let tail = self.tail();
        let copies = Copies::new(key.overflow, key.capacity, tail);
        let limit = copies.limit();
        let part = Part::new(key, self.slots(), limit, Local::new(copies));
        let part = self.register(part);
        let mut tail = self.tail();
        if key.overflow == TopicOverflow::DropNew {
            tail = settle(self, &part, tail);
        }
        // SAFETY: Valid: the part is borrowed. Exclusive: its key names this thread or nobody.
        let mut local = unsafe { part.owned() }.local.borrow_mut();
        local.start_at(tail);
        let id = local.join();
        local.tell_limit(&part, after);
        drop(local);
        (part, id)
    }
}

impl<T> Log<T> {
    /// Puts a part on the control plane: a writer that has not seen it appends at the tail that is
    /// read from then on, or before it.
    pub(super) fn register(&self, part: Part<T>) -> Arc<Part<T>> {
        if part.key.overflow != TopicOverflow::Backpressure {
            // Relaxed: the fence below, or the first window's, orders it with an append's look.
            self.windowed.fetch_add(1, Ordering::Relaxed);
        }
        let part = Arc::new(part);
        self.control.change(|parts| {
            let mut all = parts.map_or_else(Vec::new, |parts| parts.0.clone());
            all.push(Arc::clone(&part));
            Some(Parts(all))
        });
        // Partner TopicReserveFence.
        fence(Site::TopicJoinFence);
        part
    }

    /// Takes a part off the control plane whose last feed has left.
    pub(super) fn forget(&self, part: &Arc<Part<T>>) {
        part.leave();
        if part.key.overflow != TopicOverflow::Backpressure {
            // Relaxed: the fence in `leave` releases what was copied from the windows (partner
            // TopicReadWindowed).
            self.windowed.fetch_sub(1, Ordering::Relaxed);
        }
        self.control.change(|parts| {
            let rest = parts?.iter().filter(|other| !Arc::ptr_eq(other, part));
            let rest: Vec<_> = rest.cloned().collect();
            (!rest.is_empty()).then_some(Parts(rest))
        });
    }
}
