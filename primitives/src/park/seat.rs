//! Where one feed waits: with the others of its thread, or alone.
//!
//! A future of this crate that is dropped takes its wait back, so the feeds that wait by one share
//! a bell, and hand on who is rung. A feed that was polled as a stream may be left alone after
//! Pending, and nobody tells: such a wait has a bell of its own, and no other feed depends on it.

use super::{Bells, Crew, Member};
use crate::feed::{Detached, OnShard};
use crate::panics::Panics;
use std::task::Waker;

/// How a feed is polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// By a future that takes its wait back when it is dropped.
    Future,
    /// As a stream, which may be left alone.
    Stream,
}

/// A feed's place among those that wait for the news of one source.
pub(crate) struct Seat<P> {
    member: Member<P>,
    waits: bool,
    /// Where it waits as a stream; made when it first does.
    alone: Option<Member<Detached>>,
    waits_alone: bool,
}

impl Seat<OnShard> {
    /// A seat with the other feeds of the calling thread.
    pub(crate) fn here(bells: &Bells) -> Self {
        Self::new(bells.join())
    }
}

impl Seat<Detached> {
    /// A seat that may travel.
    pub(crate) fn alone(bells: &Bells) -> Self {
        let member = Crew::alone();
        bells.register(member.crew());
        Self::new(member)
    }
}

impl<P> Seat<P> {
    fn new(member: Member<P>) -> Self {
        Self {
            member,
            waits: false,
            alone: None,
            waits_alone: false,
        }
    }

    /// Waits for news after `seen`. Whether the feed is to look once more; otherwise another one
    /// waits for all.
    pub(crate) fn wait(&mut self, how: How, waker: &Waker, seen: u64, bells: &Bells) -> bool {
        if how == How::Future || self.member.crew().is_alone() {
            self.waits = true;
            return self.member.wait(waker, seen, &bells.parked);
        }
        self.waits_alone = true;
        let alone = self.alone.get_or_insert_with(|| {
            let member = Crew::alone();
            bells.register(member.crew());
            member
        });
        alone.wait(waker, seen, &bells.parked)
    }

    /// Has looked at news, which `now` counts: waits no more, and wakes the others of its thread
    /// that have not seen them.
    pub(crate) fn found(&mut self, bells: &Bells, now: impl Fn() -> u64) {
        self.waits = false;
        let mut panics = Panics::default();
        panics.run(|| self.end_alone(bells));
        panics.run(|| self.member.found(&bells.parked, now));
        panics.resume();
    }

    /// Takes a wait back that returned Pending, and hands on what it was to do for others.
    pub(crate) fn stop_waiting(&mut self, bells: &Bells, now: impl Fn() -> u64) {
        let mut panics = Panics::default();
        panics.run(|| self.end_alone(bells));
        if std::mem::take(&mut self.waits) {
            panics.run(|| self.member.stop_waiting(&bells.parked, now));
        }
        panics.resume();
    }

    /// Whether it waits in any way.
    pub(crate) fn waits(&self) -> bool {
        self.waits || self.waits_alone
    }

    /// The feed goes; it waits no more.
    pub(crate) fn leave(&self, bells: &Bells) {
        let mut panics = Panics::default();
        panics.run(|| bells.leave(&self.member));
        if let Some(alone) = &self.alone {
            panics.run(|| bells.leave(alone));
        }
        panics.resume();
    }

    fn end_alone(&mut self, bells: &Bells) {
        if std::mem::take(&mut self.waits_alone)
            && let Some(alone) = &self.alone
        {
            // Nobody is left behind whom news could interest.
            alone.stop_waiting(&bells.parked, || 0);
        }
    }
}
