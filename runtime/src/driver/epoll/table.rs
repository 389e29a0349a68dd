//! Which socket an event belongs to.

use std::rc::Rc;

use super::source::Readiness;

/// What epoll carries for a registration: a slot (low half) and its generation (high half).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token(u64);

impl Token {
    /// The bell's eventfd.
    pub(super) const BELL: Self = Self(u64::MAX);
    /// The timerfd.
    pub(super) const TIMER: Self = Self(u64::MAX - 1);

    pub(super) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(super) fn bits(self) -> u64 {
        self.0
    }

    fn new(slot: u32, generation: u32) -> Self {
        Self(u64::from(generation) << 32 | u64::from(slot))
    }

    fn slot(self) -> usize {
        self.0 as u32 as usize
    }

    fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// The registered sockets. A slot is used again under its next generation.
#[derive(Debug, Default)]
pub(super) struct Table {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot {
    generation: u32,
    readiness: Option<Rc<Readiness>>,
}

impl Table {
    /// Whether nothing is registered.
    pub(super) fn is_empty(&self) -> bool {
        self.free.len() == self.slots.len()
    }

    /// All that is registered.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Readiness> {
        self.slots
            .iter()
            .filter_map(|slot| slot.readiness.as_deref())
    }

    /// Takes a slot. There are never more than descriptors, whose number is below 2^31, so no token
    /// is one of the two fixed ones.
    pub(super) fn insert(&mut self, readiness: Rc<Readiness>) -> Token {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot {
                generation: 0,
                readiness: None,
            });
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[index as usize];
        slot.readiness = Some(readiness);
        Token::new(index, slot.generation)
    }

    /// Frees the slot; events that still name this token find nothing.
    pub(super) fn remove(&mut self, token: Token) {
        let slot = &mut self.slots[token.slot()];
        if slot.generation == token.generation() && slot.readiness.take().is_some() {
            slot.generation = slot.generation.wrapping_add(1);
            self.free.push(token.slot() as u32);
        }
    }

    /// The socket that the token was made for, unless it has gone.
    pub(super) fn readiness(&self, token: Token) -> Option<&Rc<Readiness>> {
        let slot = self.slots.get(token.slot())?;
        slot.readiness
            .as_ref()
            .filter(|_| slot.generation == token.generation())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_token_finds_nothing_in_a_slot_that_is_used_again() {
        let mut table = Table::default();
        let old = table.insert(Rc::default());
        table.remove(old);
        assert!(table.is_empty());
        let new = table.insert(Rc::default());
        assert_eq!(old.slot(), new.slot());
        assert!(table.readiness(old).is_none());
        assert!(table.readiness(new).is_some());
        table.remove(old);
        assert!(
            table.readiness(new).is_some(),
            "an old token freed a new socket's slot"
        );
    }

    #[test]
    fn fixed_tokens_find_nothing() {
        let mut table = Table::default();
        table.insert(Rc::default());
        for token in [Token::BELL, Token::TIMER] {
            assert!(table.readiness(token).is_none());
        }
    }
}
