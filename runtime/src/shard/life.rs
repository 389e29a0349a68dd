//! A shard's life: turns while there is work, sleep when there is none, and an orderly end.

use std::io;
use std::time::Duration;

use super::Context;
use super::turn::Pace;
use crate::directory::Phase;
use crate::settings::IdlePolicy;
use crate::time::Instant;

/// Looks at memory between two looks at the clock while a shard spins.
const SPIN_ROUNDS: u32 = 16;

/// A shard that may spin wakes up to this long before a timer is due, and spins up to it: a
/// processor that sleeps comes back about this late (bench row `timer_late_p99`).
const EARLY_MAX: Duration = IdlePolicy::SPIN_DEFAULT;

/// Runs the shard of `context` until `done` says so after a turn, or the runtime stops.
///
/// # Errors
///
/// When the driver cannot wait any more.
pub(crate) fn run_until(
    context: &Context,
    idle: IdlePolicy,
    mut done: impl FnMut() -> bool,
) -> io::Result<()> {
    let start = context.refresh_now();
    context.counters().started_ns.raise(start.as_nanos());
    let mut pace = Pace::new(start);
    if idle == IdlePolicy::Park {
        pace = pace.parking();
    }
    loop {
        let turn = context.turn(&mut pace);
        if done() || is_over(context) {
            return Ok(());
        }
        if !turn.parks && (turn.polls > 0 || context.has_work()) {
            continue;
        }
        let found = match idle {
            IdlePolicy::Park => false,
            IdlePolicy::SpinThenPark(limit) => spin(context, Some(spin_until(context, limit))),
            IdlePolicy::Spin => spin(context, None),
        };
        if !found {
            park(context, early(idle))?;
        }
    }
}

/// How long before a timer a sleep ends.
fn early(idle: IdlePolicy) -> Duration {
    match idle {
        IdlePolicy::SpinThenPark(limit) => limit.min(EARLY_MAX),
        IdlePolicy::Park | IdlePolicy::Spin => Duration::ZERO,
    }
}

/// Until when a shard spins that then parks: on to a timer which is due before a sleep would end.
fn spin_until(context: &Context, limit: Duration) -> Instant {
    let until = context.now().saturating_add(limit);
    let last = until.saturating_add(early(IdlePolicy::SpinThenPark(limit)));
    let timer = context.next_deadline().filter(|timer| *timer <= last);
    timer.map_or(until, |timer| timer.max(until))
}

/// Looks for work until `limit`; tells whether there is some. It looks at memory and at a hot
/// stream alone in most rounds: the clock, and with it timers and drivers that must be asked, have
/// their turn every [`SPIN_ROUNDS`].
fn spin(context: &Context, limit: Option<Instant>) -> bool {
    let timer = context.next_deadline();
    let phase = context.phase();
    let mut counted = context.now();
    loop {
        for _ in 0..SPIN_ROUNDS {
            if context.has_work() || context.driver().find() {
                return true;
            }
            std::hint::spin_loop();
        }
        let now = context.refresh_now();
        let idle = now.duration_since(std::mem::replace(&mut counted, now));
        context.counters().idle_ns.add(idle.as_nanos() as u64);
        if context.driver().needs_turn() {
            context.driver().turn();
        }
        let moved = context.phase() != phase;
        if moved || timer.is_some_and(|timer| timer <= now) {
            return true;
        }
        if limit.is_some_and(|limit| limit <= now) {
            return context.has_work();
        }
    }
}

/// Sleeps in the driver until the bell rings, something completes or the next timer is due in
/// `early`.
fn park(context: &Context, early: Duration) -> io::Result<()> {
    let sleep = &context.mailbox().bell().sleep;
    let phase = context.phase();
    sleep.prepare();
    // Whoever left a message before the mark saw nobody asleep, so it is looked for here. So is the
    // end: of two shards whose last tasks end at once, this fence shows one to the other.
    if context.has_work() || context.phase() != phase || is_over(context) {
        sleep.awake();
        return Ok(());
    }
    let before = context.refresh_now();
    let timeout = park_limit(context, phase, early).map(|until| until.duration_since(before));
    let counters = context.counters();
    counters.parks.add(1);
    counters.parked.begin(before.as_nanos());
    let parked = context.driver().park(timeout);
    sleep.awake();
    counters.parked.end(context.refresh_now().as_nanos());
    parked
}

fn park_limit(context: &Context, phase: Phase, early: Duration) -> Option<Instant> {
    let drain = (phase == Phase::Draining).then(|| context.directory().drain_until());
    let timer = context
        .next_deadline()
        .map(|timer| timer.saturating_sub(early));
    match (timer, drain) {
        (Some(timer), Some(drain)) => Some(timer.min(drain)),
        (timer, drain) => timer.or(drain),
    }
}

fn is_over(context: &Context) -> bool {
    match context.phase() {
        Phase::Running => false,
        Phase::Draining => context.directory().is_drained(context.now()),
        Phase::Stopping => true,
    }
}

/// Ends the shard: drops its tasks, then the values that handles elsewhere stand for, then its
/// values of statics, answers what others wait for, closes the driver. The shard's context is still
/// entered.
///
/// # Errors
///
/// When the driver cannot wait for the kernel.
pub(crate) fn finish(context: &Context, limit: Duration) -> io::Result<()> {
    // First, while everything that a drop may use is there (tests/shard_local.rs). Whatever is
    // spawned from now on ends at once, so none is left after this.
    context.cancel_all();
    context.residents().close();
    context.locals().close();
    context.own().inbox.close();
    // What the last tasks answered goes back; what came meanwhile is refused.
    context.mesh().flush(context);
    let closed = context.driver().close(limit);
    debug_assert!(
        context.tasks().all().is_empty(),
        "a shard that ends starts nothing"
    );
    context.mesh().close();
    let left = *closed.as_ref().unwrap_or(&0);
    let ring = context.driver().release_ring();
    context.directory().shard_stopped(left, ring);
    closed.map(drop)
}
