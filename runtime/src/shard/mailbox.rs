//! Mailboxes: where any thread leaves a wake for a task of a shard.
//!
//! Owner: one shard at a time holds a mailbox; any thread may set bits in it at any time, also
//! after that shard has gone, since a waker carries no count. Mailboxes, their segments and their
//! eventfd therefore live as long as the process and are handed on from shard to shard.
//! Rule: a waker sets the slot's bit, then the summary bit (both Release), fences, and reads the
//! sleep word; the shard marks itself asleep, fences, and looks at the summaries. One of the two
//! sees the other. A waker always does all of it, since whoever set a bit first may have been
//! stopped before the next step. Model: `tests/loom_mailbox.rs`.

use std::io;
use std::sync::{Mutex, OnceLock};

use corelane_primitives::Epoch;
#[cfg(corelane_loom)]
use corelane_primitives::SleepWord;
use crossbeam_utils::CachePadded;

use crate::driver::Driver;
use crate::driver::bell::Bell;
use crate::sync::modelled::{AtomicBool, AtomicU64, Ordering, Site, acquire, release};
use crate::task::token::{SLOTS_MAX, Slot, Token};

/// Mailboxes a process, which bounds the shards that live at one time. The last number stands for
/// no mailbox in [`Token::NONE`].
pub(crate) const MAILBOXES_MAX: usize = (1 << 16) - 1;
/// Slots a segment: one summary word of 64 words of 64 bits.
const SEGMENT_SLOTS: usize = 64 * 64;
const SEGMENTS_MAX: usize = SLOTS_MAX / SEGMENT_SLOTS;

static TABLE: [OnceLock<&'static Mailbox>; MAILBOXES_MAX] =
    [const { OnceLock::new() }; MAILBOXES_MAX];
static FREE: Mutex<Free> = Mutex::new(Free {
    returned: Vec::new(),
    made: 0,
});

struct Free {
    returned: Vec<MailboxId>,
    made: u32,
}

/// The number of a mailbox, which wakers carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct MailboxId(pub(crate) u16);

/// 4,096 wake bits, with one word that says which of the 64 words have any.
struct Segment {
    summary: AtomicU64,
    words: [AtomicU64; 64],
}

/// Where others leave wakes for one shard.
pub(crate) struct Mailbox {
    id: MailboxId,
    /// Says that some bit was set since the shard last looked: a hint for a busy shard to end its
    /// slice. What is there is decided by the summaries themselves, which every turn looks at.
    news: CachePadded<AtomicBool>,
    segments: Box<[OnceLock<Box<Segment>>]>,
    bell: Bell,
}

impl std::fmt::Debug for Mailbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mailbox")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// The right to read one mailbox; given back when dropped.
#[derive(Debug)]
pub(crate) struct Lease(&'static Mailbox);

impl Mailbox {
    /// Takes a mailbox that no shard holds, or makes one.
    ///
    /// # Errors
    ///
    /// When the process has [`MAILBOXES_MAX`] shards, or no descriptor is left for an eventfd.
    pub(crate) fn lease() -> io::Result<Lease> {
        let mut free = FREE
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(id) = free.returned.pop() {
            return Ok(Lease(find(id)));
        }
        let id = u16::try_from(free.made).map_err(|_| {
            io::Error::new(
                io::ErrorKind::QuotaExceeded,
                "the process has 65,536 shards",
            )
        })?;
        let mailbox: &'static Self = Box::leak(Box::new(Self::new(MailboxId(id))?));
        TABLE[usize::from(id)].get_or_init(|| mailbox);
        free.made += 1;
        Ok(Lease(mailbox))
    }

    /// A mailbox that no token finds yet.
    pub(crate) fn new(id: MailboxId) -> io::Result<Self> {
        Ok(Self {
            id,
            news: CachePadded::new(AtomicBool::new(false)),
            segments: (0..SEGMENTS_MAX).map(|_| OnceLock::new()).collect(),
            bell: Bell::new()?,
        })
    }

    pub(crate) fn id(&self) -> MailboxId {
        self.id
    }

    pub(crate) fn bell(&'static self) -> &'static Bell {
        &self.bell
    }

    /// Makes sure that wakes for `slot` have a place. The shard calls it before a token leaves.
    pub(crate) fn reserve(&self, slot: Slot) {
        let segment = &self.segments[slot.index() / SEGMENT_SLOTS];
        if segment.get().is_some() {
            return;
        }
        // Made before the place is looked at again: allocating may spawn, and so come by here.
        let made = Box::new(Segment {
            summary: AtomicU64::new(0),
            words: std::array::from_fn(|_| AtomicU64::new(0)),
        });
        segment.get_or_init(|| made);
    }

    /// Leaves a wake for `slot` without ringing.
    fn set(&self, slot: Slot) {
        // A token names a slot that was reserved before; its segment is never taken away.
        let Some(segment) = self.segments[slot.index() / SEGMENT_SLOTS].get() else {
            return;
        };
        let word = segment.set_bit(slot);
        // Release: pairs with the Acquire swap in `collect`, so that who takes this bit finds that
        // one. No model shows it: loom runs all changes of a word in one order with everything
        // else.
        segment.summary.fetch_or(1 << word, Ordering::Release);
        self.note();
    }

    /// Tells a busy shard to look at its news soon.
    pub(crate) fn note(&self) {
        // Relaxed: a hint alone; the bits themselves carry the data.
        self.news.store(true, Ordering::Relaxed);
    }

    /// Whether a waker has come by since the last [`Mailbox::clear_news`].
    pub(crate) fn has_news(&self) -> bool {
        self.news.load(Ordering::Relaxed)
    }

    /// Takes the hint back. The shard calls it before it looks.
    pub(crate) fn clear_news(&self) {
        if self.has_news() {
            self.news.store(false, Ordering::Relaxed);
        }
    }

    /// Whether any wake is waiting among the first `slots` slots.
    pub(crate) fn has_wakes(&self, slots: usize) -> bool {
        self.used(slots)
            .any(|(_, segment)| segment.summary.load(Ordering::Relaxed) != 0)
    }

    /// Takes all wakes among the first `slots` slots and calls `wake` with each.
    pub(crate) fn collect(&self, slots: usize, mut wake: impl FnMut(Slot)) {
        for (number, segment) in self.used(slots) {
            if segment.summary.load(Ordering::Relaxed) == 0 {
                continue;
            }
            // Acquire: pairs with the Release in `set`.
            let mut summary = segment.summary.swap(0, Ordering::Acquire);
            while summary != 0 {
                let word = summary.trailing_zeros() as usize;
                summary &= summary - 1;
                // Acquire: pairs with the Release in `set_bit`. The summary's does not do, since a
                // waker may have been stopped before he set it.
                let mut bits = segment.words[word].swap(0, acquire(Site::MAILBOX_TAKE_BITS));
                while bits != 0 {
                    let bit = bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    wake(Slot::new(number * SEGMENT_SLOTS + word * 64 + bit));
                }
            }
        }
    }

    /// The segments that cover the first `slots` slots and exist, with their numbers.
    fn used(&self, slots: usize) -> impl Iterator<Item = (usize, &Segment)> {
        let covering = self.segments[..slots.div_ceil(SEGMENT_SLOTS)]
            .iter()
            .enumerate();
        covering.filter_map(|(number, segment)| Some((number, &**segment.get()?)))
    }

    /// Rings the bell if its shard sleeps; through `driver` when the caller is a shard.
    ///
    /// Returns whether it rang. The caller has stored its message before.
    pub(crate) fn ring(&'static self, driver: Option<&Driver>) -> bool {
        self.ring_by(|epoch| match driver {
            Some(driver) => driver.ring(&self.bell, epoch),
            None => self.bell.ring_event(epoch),
        })
    }

    /// Calls `ring`, which marks the sleeper of its epoch rung, if the shard sleeps.
    fn ring_by(&self, ring: impl FnOnce(Epoch)) -> bool {
        // It fences first.
        let sleeper = self.bell.sleep.sleeper();
        sleeper.map(ring).is_some()
    }
}

/// What the models ask for beside the rest.
#[cfg(corelane_loom)]
impl Mailbox {
    /// As [`leave`].
    pub(crate) fn leave(&self, slot: Slot) {
        self.set(slot);
    }

    /// As [`Mailbox::ring`], with another way to ring.
    pub(crate) fn ring_with(&self, ring: impl FnOnce(&SleepWord, Epoch)) {
        self.ring_by(|epoch| ring(&self.bell.sleep, epoch));
    }

    /// The first step of a waker who is stopped behind it.
    pub(crate) fn set_half(&self, slot: Slot) {
        if let Some(segment) = self.segments[slot.index() / SEGMENT_SLOTS].get() {
            segment.set_bit(slot);
        }
    }

    /// The shard's sleep word.
    pub(crate) fn sleep(&self) -> &SleepWord {
        &self.bell.sleep
    }
}

impl Segment {
    /// Sets the bit of `slot`, and gives the number of its word.
    fn set_bit(&self, slot: Slot) -> usize {
        let word = slot.index() % SEGMENT_SLOTS / 64;
        // Release: pairs with the Acquire swap in `collect`, so that what the waker did before is
        // seen by the task's next poll.
        self.words[word].fetch_or(1 << (slot.index() % 64), release(Site::MAILBOX_BIT));
        word
    }
}

/// Leaves the wake that `token` names in its mailbox, which is to be [rung](Mailbox::ring) now.
///
/// Any thread, any time; never blocks.
#[must_use = "a shard that sleeps must be rung"]
pub(crate) fn leave(token: Token) -> &'static Mailbox {
    let mailbox = find(token.mailbox());
    mailbox.set(token.slot());
    mailbox
}

fn find(id: MailboxId) -> &'static Mailbox {
    TABLE[usize::from(id.0)]
        .get()
        .expect("an id is given out only with its mailbox in the table")
}

impl std::ops::Deref for Lease {
    type Target = &'static Mailbox;

    fn deref(&self) -> &&'static Mailbox {
        &self.0
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.0.bell.set_ring_fd(None);
        self.0.bell.sleep.awake();
        FREE.lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .returned
            .push(self.0.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wakes_of_any_slot_are_collected_once() {
        let mailbox = Mailbox::lease().unwrap();
        let slots = [0, 1, 63, 64, 4_095, 4_096, 70_000];
        for slot in slots {
            mailbox.reserve(Slot::new(slot));
            mailbox.set(Slot::new(slot));
            mailbox.set(Slot::new(slot));
        }
        assert!(mailbox.has_wakes(70_001));
        let mut found = Vec::new();
        mailbox.collect(70_001, |slot| found.push(slot.index()));
        assert_eq!(found, slots);
        assert!(!mailbox.has_wakes(70_001));
    }

    #[test]
    fn a_returned_mailbox_is_taken_again() {
        let first = Mailbox::lease().unwrap();
        let id = first.id();
        let held: Vec<_> = (0..4).map(|_| Mailbox::lease().unwrap()).collect();
        assert!(held.iter().all(|lease| lease.id() != id));
        drop(first);
        // Other tests of this process lease too, so the id may go to one of them; it is not lost.
        let again: Vec<_> = (0..8).map(|_| Mailbox::lease().unwrap()).collect();
        assert_eq!(again.len(), 8);
    }
}
