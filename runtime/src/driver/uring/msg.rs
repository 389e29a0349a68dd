//! Ringing other shards through their rings.
//!
//! A message is queued at once and made by the next `enter`; only then is its sleeper marked rung,
//! so that a shard that stops in between leaves the sleeper to be rung by others. A message that
//! could not be delivered rings the eventfd.

use corelane_primitives::Epoch;
use io_uring::squeue::{Entry, Flags};
use io_uring::{opcode, types::Fd};

use super::token::Token;
use crate::driver::bell::Bell;

/// The bells that this shard has rung, and which of them are queued.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// Each bell once, with the last epoch it was rung for. A shard rings few others, so a scan
    /// finds it.
    targets: Vec<Target>,
    /// Queued since the last `enter`.
    queued: Vec<(&'static Bell, Epoch)>,
}

#[derive(Debug)]
struct Target {
    bell: &'static Bell,
    epoch: Epoch,
}

impl Messages {
    /// The entry that rings `bell`, if it sleeps in a ring; the bell is remembered until
    /// [`Messages::submitted`].
    pub(super) fn queue(
        &mut self,
        bell: &'static Bell,
        epoch: Epoch,
        skip_success: bool,
    ) -> Option<Entry> {
        let ring = bell.ring_fd()?;
        let known = self
            .targets
            .iter()
            .position(|target| std::ptr::eq(target.bell, bell));
        let index = known.unwrap_or_else(|| {
            self.targets.push(Target { bell, epoch });
            self.targets.len() - 1
        });
        self.targets[index].epoch = epoch;
        let token = Token::Ring(u16::try_from(index).ok()?);
        self.queued.push((bell, epoch));
        let message = opcode::MsgRingData::new(Fd(ring), 0, Token::Rung.pack(), None);
        let flags = if skip_success {
            Flags::SKIP_SUCCESS
        } else {
            Flags::empty()
        };
        Some(message.build().flags(flags).user_data(token.pack()))
    }

    /// Whether messages wait for an `enter`.
    pub(super) fn is_empty(&self) -> bool {
        self.queued.is_empty()
    }

    /// All that was queued has gone to the kernel: the sleepers are rung.
    pub(super) fn submitted(&mut self) {
        for (bell, epoch) in self.queued.drain(..) {
            bell.sleep.mark_rung(epoch);
        }
    }

    /// What is queued will not go to the kernel any more: those bells ring through their eventfds.
    pub(super) fn abandon(&mut self) {
        for (bell, epoch) in self.queued.drain(..) {
            bell.ring_event(epoch);
        }
    }

    /// A message has its completion: one that failed goes through the eventfd instead.
    pub(super) fn done(&self, index: u16, result: i32) {
        if result < 0
            && let Some(target) = self.targets.get(usize::from(index))
        {
            target.bell.ring_event(target.epoch);
        }
    }
}
