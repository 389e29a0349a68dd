//! Appends by a source that numbers its values itself, as a subscription does: the log only carries
//! them.
//!
//! Whoever finds the newest value of such a source may append it, as often as it likes: its number
//! is its position. A source gives a number only when there is room for it and what comes before is
//! appended. It reads its newest number where an appender of a topic reads the tail; the argument
//! in the header of `topic` holds with that in the tail's place, since a number is given out only
//! after the one before it was appended.

use super::log::Log;
use super::part::Parts;
use super::pool::Spare;
use super::word::Word;
use crate::sync::{Ordering, Site, fence, release};

impl<T> Log<T> {
    /// Whether every part has room for `position`, which the caller found to be the next one. That
    /// stays so until it is appended.
    pub(crate) fn has_room(&self, position: u64) -> bool {
        // Repeats only when a feed comes, goes or moves meanwhile: a limit may have grown because
        // its feed went to another part.
        loop {
            let turn = self.control.turns();
            // Partner TopicJoinFence: either this sees a part that has joined, or the part starts
            // at this position or after it.
            fence(Site::TopicReserveFence);
            let has_room = self.control.read(|parts| {
                let mut parts = parts.into_iter().flat_map(Parts::iter);
                parts.all(|part| position < part.limit())
            });
            if !has_room || self.control.turns() == turn {
                return has_room;
            }
        }
    }

    /// Appends the value of `position`, which has room, unless somebody has done so.
    ///
    /// Tells whether this call did. It rings nobody: a [`Bell`](super::log::Bell) does, for who has
    /// appended or calls [`fence_append`](Self::fence_append). What falls out of the log is dropped
    /// here; if that panics, the value was appended.
    pub(crate) fn append_at(
        &self,
        position: u64,
        spare: &Spare,
        value: impl FnOnce() -> T,
    ) -> bool {
        let word = self.word(position);
        let lap = self.lap(position);
        if !word.is_before_lap(lap) || word.is_sealed() {
            return false;
        }
        // In the first lap nothing is put out (bench row `lossless_64_a`).
        if word.node().is_some() {
            // Partner TopicWindowFence: whoever comes a whole ring after a window's start finds it.
            fence(Site::TopicReserveFence);
            self.control.read(|parts| {
                if let Some(parts) = parts {
                    self.note_kept(parts, position, word);
                }
            });
        }
        let node = self.pool.fill(spare.take(&self.pool), value());
        // Release, partner TopicReadSlot: the value is in its node.
        let appended = self.slot(position).compare_exchange(
            word.bits(),
            Word::new(lap, node.index()).bits(),
            release(Site::NumberedAppend),
            Ordering::Relaxed,
        );
        if appended.is_err() {
            // Somebody was faster.
            let (vacant, value) = self.pool.empty(node);
            spare.keep(&self.pool, vacant);
            drop(value);
            return false;
        }
        self.help(position);
        self.unlink(word, position, spare);
        true
    }

    /// Before a bell of somebody whose value another thread has appended.
    pub(crate) fn fence_append(&self) {
        // Partner of a parked part's mark.
        fence(Site::TopicAppendFence);
    }
}
