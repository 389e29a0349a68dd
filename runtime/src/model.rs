//! What the models of `tests/loom_*.rs` ask of a model build. No part of the public interface.

use std::fmt;

use crate::mesh;
use crate::shard::ShardIndex;
use crate::shard::mailbox::{self, MailboxId};
use crate::sync::modelled::SITES;
use crate::task::token::Slot;

pub use crate::task::model::{Returns, Sender, Target, item};

/// The names that `CORELANE_WEAKEN` understands, beside those of the primitives.
pub fn sites() -> &'static [&'static str] {
    SITES
}

/// A shard's mailbox, with room for some slots.
pub struct Mailbox {
    mailbox: mailbox::Mailbox,
    slots: usize,
}

impl Mailbox {
    /// A mailbox of a shard that is awake.
    pub fn new(slots: usize) -> Self {
        let mailbox = mailbox::Mailbox::new(MailboxId(0)).expect("an eventfd is left");
        (0..slots).for_each(|slot| mailbox.reserve(Slot::new(slot)));
        Self { mailbox, slots }
    }

    /// All that a waker does; `ring` is called if the shard sleeps, before it is marked rung.
    pub fn wake(&self, slot: usize, ring: impl FnOnce()) {
        self.mailbox.wake_by(Slot::new(slot), |sleep, epoch| {
            ring();
            sleep.mark_rung(epoch);
        });
    }

    /// What a waker does who is stopped behind his first step.
    pub fn wake_half(&self, slot: usize) {
        self.mailbox.set_half(Slot::new(slot));
    }

    /// Takes all wakes.
    pub fn collect(&self) -> Vec<usize> {
        let mut slots = Vec::new();
        self.mailbox
            .collect(self.slots, |slot| slots.push(slot.index()));
        slots
    }

    /// Lets the shard sleep by `park`, unless a wake is there once it is marked asleep.
    pub fn sleep(&self, park: impl FnOnce()) {
        let sleep = &self.mailbox.sleep();
        sleep.prepare();
        if !self.mailbox.has_wakes(self.slots) {
            park();
        }
        sleep.awake();
    }
}

impl fmt::Debug for Mailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.mailbox.fmt(f)
    }
}

/// The doorbells of one target.
#[derive(Debug)]
pub struct Doorbells(mesh::Doorbells);

impl Doorbells {
    /// Doorbells for `shards` senders.
    pub fn new(shards: usize) -> Self {
        Self(mesh::Doorbells::new(shards))
    }

    /// Rings for `from`.
    pub fn set(&self, from: usize) {
        self.0.set(ShardIndex::new(from));
    }

    /// Whether anybody has rung.
    pub fn any(&self) -> bool {
        self.0.any()
    }

    /// Who has rung.
    pub fn look(&self) -> Vec<usize> {
        let mut rung = Vec::new();
        self.0.look(|from| rung.push(from.get()));
        rung
    }

    /// Takes the bit of `from` back.
    pub fn clear(&self, from: usize) {
        self.0.clear(ShardIndex::new(from));
    }
}
