//! What the models of `tests/loom_*.rs` ask of a model build. No part of the public interface.

use std::any::Any;
use std::fmt;
use std::rc::Rc;
use std::task::Waker;

use crate::home::Residents;
use crate::idle::{self, Books};
use crate::inbox::{self, Inbox};
use crate::mesh;
use crate::shard::ShardIndex;
use crate::shard::mailbox::{self, MailboxId};
use crate::sync::Counter;
use crate::sync::modelled::SITES;
use crate::task::Departure;
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
        self.mailbox.leave(Slot::new(slot));
        self.ring(ring);
    }

    /// What a waker does behind his message.
    fn ring(&self, ring: impl FnOnce()) {
        self.mailbox.ring_with(|sleep, epoch| {
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
        self.sleep_unless(|| self.mailbox.has_wakes(self.slots), park);
    }

    fn sleep_unless(&self, has_work: impl FnOnce() -> bool, park: impl FnOnce()) {
        let sleep = &self.mailbox.sleep();
        sleep.prepare();
        if !has_work() {
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

/// Something to do on a shard, made outside of it.
pub type Job = inbox::Job;

/// Why a job was not taken in; it is handed back.
pub enum Refused {
    /// The inbox has no room.
    Full(Job),
    /// The shard has ended.
    Closed(Job),
}

/// What others may know of one shard: where they leave calls and departures, how it sleeps, and
/// what it counts.
#[derive(Debug)]
pub struct Shard {
    inbox: Inbox,
    mailbox: Mailbox,
    spawned: Counter,
    ended: Counter,
}

/// The values that live on a shard, and belong to its thread.
#[allow(missing_debug_implementations, reason = "values have no form")]
pub struct Home(Residents);

/// The place of a value in the departures of its home.
#[derive(Debug)]
pub struct Leaving(Departure);

impl Home {
    /// Nothing lives here.
    #[allow(clippy::new_without_default, reason = "loom makes nothing by default")]
    pub fn new() -> Self {
        Self(Residents::default())
    }

    /// Takes a value in.
    pub fn take_in(&self, value: impl Any) -> Leaving {
        Leaving(Departure::new(self.0.insert(Rc::new(value))))
    }
}

impl Shard {
    /// A shard that is awake, with room for so many calls.
    pub fn new(capacity: usize) -> Self {
        Self {
            inbox: Inbox::new(capacity),
            mailbox: Mailbox::new(0),
            spawned: Counter::default(),
            ended: Counter::default(),
        }
    }

    /// All that a thread outside the shards does; `ring` is called if the shard sleeps.
    ///
    /// # Errors
    ///
    /// [`Refused`]. When it is full, `waiter` is woken at room.
    pub fn put(&self, job: Job, waiter: &Waker, ring: impl FnOnce()) -> Result<(), Refused> {
        self.inbox.put(job, Some(waiter)).map_err(|why| match why {
            inbox::Refused::Full(job) => Refused::Full(job),
            inbox::Refused::Closed(job) => Refused::Closed(job),
        })?;
        self.mailbox.ring(ring);
        Ok(())
    }

    /// All that the last handle of a value does.
    pub fn depart(&self, leaving: Leaving, ring: impl FnOnce()) {
        self.inbox.depart(leaving.0);
        self.mailbox.ring(ring);
    }

    /// What a last handle does whose thread is stopped behind its first step.
    pub fn depart_half(&self, leaving: Leaving) {
        self.inbox.depart_half(leaving.0);
    }

    /// What the shard's turn does.
    pub fn work(&self, home: &Home) {
        self.inbox.work(&home.0);
    }

    /// Whether something is left to do.
    pub fn has_any(&self) -> bool {
        self.inbox.has_any()
    }

    /// Lets the shard sleep by `park`, unless something is there once it is marked asleep.
    pub fn sleep(&self, park: impl FnOnce()) {
        self.mailbox.sleep_unless(|| self.inbox.has_any(), park);
    }

    /// Takes nothing more in.
    pub fn close(&self) {
        self.inbox.close();
    }

    /// Counts a task that the shard has spawned.
    pub fn spawned(&self) {
        self.spawned.add(1);
    }

    /// Counts a task that has ended, after all that it did.
    pub fn ended(&self) {
        self.ended.publish(1);
    }

    fn books(&self) -> Books<'_> {
        Books {
            inbox: &self.inbox,
            spawned: &self.spawned,
            ended: &self.ended,
        }
    }
}

/// Whether a runtime of `shards` that drains finds nothing left to do.
pub fn is_idle(shards: &[Shard]) -> bool {
    idle::is_idle(|| shards.iter().map(Shard::books))
}

impl fmt::Debug for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Closed(_) => "Closed(..)",
        })
    }
}
