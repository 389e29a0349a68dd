//! One turn of a shard: take the news, run a slice of tasks, tell the others, let the driver work.

use std::rc::Rc;

use super::Context;
use crate::sched::Group;
use crate::time::Instant;

/// Polls between two looks at timers, lanes and the driver, while polls are short.
const SLICE_POLLS: u32 = 64;
/// While tasks are ready, the driver has its turn at least this often.
const DRIVER_EVERY_NS: u64 = 20_000;

/// What a turn found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turn {
    /// Tasks that were polled.
    pub(crate) polls: u32,
    /// Nothing is left to do, and what the driver has to start goes with the park.
    pub(crate) parks: bool,
}

/// What a shard's loop keeps from turn to turn.
#[derive(Debug)]
pub(crate) struct Pace {
    /// Polls of the next slice.
    polls: u32,
    driver_last: Instant,
    /// Whether the time that was read last still holds.
    is_timed: bool,
    /// Whether an idle shard parks at once.
    parks: bool,
}

impl Pace {
    /// The pace of a loop that looks for news itself when a turn has ended.
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            polls: SLICE_POLLS,
            driver_last: now,
            is_timed: false,
            parks: false,
        }
    }

    /// The pace of a loop that parks as soon as a turn says so: the park's system call then does
    /// what the driver's turn would (bench `tcp`, row `echo_64b_c64`).
    pub(crate) fn parking(self) -> Self {
        Self {
            parks: true,
            ..self
        }
    }

    /// Time has passed that the shard did not see: the next turn reads the clock.
    pub(crate) fn time_passed(&mut self) {
        self.is_timed = false;
    }

    /// Fewer polls a slice when they are long: a slice should not pass the task budget.
    fn adapt(&mut self, polls: u32, slice_ns: u64, budget_ns: u64) {
        if polls > 0 {
            let poll_ns = (slice_ns / u64::from(polls)).max(1);
            self.polls = (budget_ns / poll_ns).clamp(1, u64::from(SLICE_POLLS)) as u32;
        }
    }
}

impl Context {
    /// Runs one turn. Never blocks.
    pub(crate) fn turn(&self, pace: &mut Pace) -> Turn {
        self.counters().turns.add(1);
        // The clock was read when the last slice ended, or while the shard idled; only the driver's
        // work may lie between (bench rows `spawn_join`, `submit_spin`).
        let start = if pace.is_timed {
            self.now()
        } else {
            self.refresh_now()
        };
        self.timers().fire(start);
        self.take_news();
        if self.mesh().has_news() {
            self.mesh().take(self);
        }
        let (polls, group) = self.run_slice(pace);
        // Before the clock is read: somebody may wait for what is told here (bench row
        // `submit_spin`).
        self.mesh().flush(self);
        if let Some(group) = group {
            self.charge(pace, &group, polls, start);
        }
        self.mesh().settle();
        let now = self.now();
        let idle = self.scheduler().is_empty();
        pace.is_timed = true;
        let parks = pace.parks && idle && !self.has_work();
        if !parks
            && (idle || now.as_nanos() >= pace.driver_last.as_nanos() + DRIVER_EVERY_NS)
            && self.driver().needs_turn()
        {
            self.driver().turn();
            pace.driver_last = now;
            pace.time_passed();
        }
        Turn { polls, parks }
    }

    /// Takes what others have left. It looks at the summaries themselves, each turn: the hint only
    /// ends a slice early.
    fn take_news(&self) {
        self.mailbox().clear_news();
        self.collect_wakes();
        self.own().inbox.work(self.residents());
        if self.phase() > crate::directory::Phase::Running {
            self.wake_shutdown_waiters();
        }
    }

    /// Polls tasks of one group until the slice is over, none is left, or others have left news.
    fn run_slice(&self, pace: &Pace) -> (u32, Option<Rc<Group>>) {
        let Some(group) = self.scheduler().next_group() else {
            return (0, None);
        };
        let mut polls = 0;
        while polls < pace.polls && self.run_next(&group) {
            polls += 1;
            if self.mailbox().has_news() {
                break;
            }
        }
        self.counters().polls.add(u64::from(polls));
        (polls, Some(group))
    }

    /// Charges the slice that began at `start` to its group, and sets the length of the next one.
    fn charge(&self, pace: &mut Pace, group: &Group, polls: u32, start: Instant) {
        let slice_ns = self
            .refresh_now()
            .as_nanos()
            .saturating_sub(start.as_nanos());
        group.charge(slice_ns);
        pace.adapt(
            polls,
            slice_ns,
            self.directory().settings.task_budget.as_nanos() as u64,
        );
    }

    /// Whether a turn would find something to do: what a shard looks at between marking itself
    /// asleep and sleeping.
    pub(crate) fn has_work(&self) -> bool {
        !self.scheduler().is_empty()
            || self.mailbox().has_wakes(self.tasks().slots())
            || self.mesh().has_news()
            || self.own().inbox.has_any()
    }

    /// When the next timer is due.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.timers().next()
    }
}
