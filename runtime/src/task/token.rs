//! Tokens: what a waker carries, in one word.

use crate::shard::mailbox::MailboxId;

const SLOT_BITS: u32 = 24;
/// Tasks a shard at one time.
pub(crate) const SLOTS_MAX: usize = 1 << SLOT_BITS;
const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;

/// A place in a shard's task table, below 2^24.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Slot(u32);

impl Slot {
    /// Takes an index below [`SLOTS_MAX`].
    pub(crate) fn new(index: usize) -> Self {
        assert!(index < SLOTS_MAX, "a shard holds at most {SLOTS_MAX} tasks");
        Self(index as u32)
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// How often a slot has been given out, modulo 2^24.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Generation(u32);

impl Generation {
    pub(crate) fn next(self) -> Self {
        Self((self.0 + 1) & SLOT_MASK as u32)
    }
}

/// Mailbox (16 bits), slot (24 bits) and generation (24 bits) of one task.
///
/// A token may outlive its task and even its shard: it then costs one spurious poll at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token(u64);

impl Token {
    /// No task: mailbox 65,535 is never given out.
    pub(crate) const NONE: Self = Self(u64::MAX);

    pub(crate) fn new(mailbox: MailboxId, slot: Slot, generation: Generation) -> Self {
        Self(
            u64::from(mailbox.0) << (2 * SLOT_BITS)
                | u64::from(slot.0) << SLOT_BITS
                | u64::from(generation.0),
        )
    }

    pub(crate) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    pub(crate) fn mailbox(self) -> MailboxId {
        MailboxId((self.0 >> (2 * SLOT_BITS)) as u16)
    }

    pub(crate) fn slot(self) -> Slot {
        Slot((self.0 >> SLOT_BITS & SLOT_MASK) as u32)
    }

    pub(crate) fn generation(self) -> Generation {
        Generation((self.0 & SLOT_MASK) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_keeps_its_three_parts() {
        for (mailbox, slot) in [(0, 0), (65_535, SLOTS_MAX - 1), (7, 4_096)] {
            let mut generation = Generation::default();
            for _ in 0..3 {
                generation = generation.next();
                let token = Token::new(MailboxId(mailbox), Slot::new(slot), generation);
                let token = Token::from_bits(token.bits());
                assert_eq!(token.mailbox(), MailboxId(mailbox));
                assert_eq!(token.slot(), Slot::new(slot));
                assert_eq!(token.generation(), generation);
            }
        }
        assert_eq!(Generation(SLOT_MASK as u32).next(), Generation(0));
    }
}
