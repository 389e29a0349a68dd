//! The loop that runs all shards of a simulation on one thread.
//!
//! Owner: the calling thread. A shard is entered for one turn at a time, so that whatever its tasks
//! ask for is its own. Nothing here sleeps or reads a real clock.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Duration;

use thread_aware::affinity;

use super::SimReport;
use crate::directory::{Directory, DriverInfo};
use crate::driver::sim::{Event, SimDriver, World};
use crate::driver::{Driver, DriverParts};
use crate::error::{DriverError, JoinError, StartError};
use crate::settings::{IdlePolicy, Settings};
use crate::shard::{self, Context, Pace, ShardIndex};
use crate::start::{self, Plan};
use crate::task::JoinHandle;
use crate::task::token::SLOTS_MAX;
use crate::time::Instant;

/// Turns after which a run is taken for a loop without an end.
const TURNS_MAX: u64 = 10_000_000;
/// What a turn costs in virtual time, so that a task that yields for ever sees time pass.
const TURN_COST: Duration = Duration::from_micros(1);

/// Runs `main` on shard 0 of the simulation of `seed`.
///
/// # Errors
///
/// When a shard's mailbox or receive buffers cannot be made.
///
/// # Panics
///
/// With the panic of `main`, when the simulation stalls, and beyond [`TURNS_MAX`] turns.
pub(crate) fn run<F, Fut>(
    plan: &Plan,
    settings: Settings,
    seed: u64,
    main: F,
) -> Result<(Fut::Output, SimReport), StartError>
where
    F: FnOnce() -> Fut + 'static,
    Fut: Future + 'static,
{
    let mut simulation = Simulation::new(plan, settings, seed)?;
    let mut main = simulation.enter(0, |context| context.spawn(async move { main().await }));
    let ended = simulation.run_until(&main);
    simulation.directory.stop();
    let output = simulation.enter(0, |_| take(&mut main));
    drop(main);
    simulation.finish();
    let report = simulation.report();
    if let Err(stuck) = ended {
        panic!("{stuck} ({report})");
    }
    match output {
        Poll::Ready(Ok(output)) => Ok((output, report)),
        Poll::Ready(Err(JoinError::Panicked(panic))) => resume_unwind(panic.into_payload()),
        Poll::Ready(Err(JoinError::Cancelled)) | Poll::Pending => {
            unreachable!("main ends by itself: shards stop after it")
        }
    }
}

fn take<T>(main: &mut JoinHandle<T>) -> Poll<Result<T, JoinError>> {
    Pin::new(main).poll(&mut TaskContext::from_waker(Waker::noop()))
}

/// Why a run did not come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stuck {
    /// No shard has work, and no timer or packet is to come.
    Stalled,
    /// More than [`TURNS_MAX`] turns.
    Endless,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stalled => f.write_str("simulation stalled: every shard waits for ever"),
            Self::Endless => write!(f, "simulation stopped: no end after {TURNS_MAX} turns"),
        }
    }
}

struct Simulation {
    seed: u64,
    world: Rc<World>,
    directory: Directory,
    shards: Vec<Member>,
    turns: u64,
}

/// One shard.
struct Member {
    context: Rc<Context>,
    pace: Pace,
}

impl Simulation {
    fn new(plan: &Plan, settings: Settings, seed: u64) -> Result<Self, StartError> {
        let directory = start::directory(plan, settings)?;
        let count = directory.members.len();
        let world = World::new(seed, count);
        let shards = (0..count).map(|shard| {
            let context = open(&world, &directory, shard)
                .map_err(|source| StartError::Driver { shard, source })?;
            Ok(Member {
                context,
                pace: Pace::new(world.now()),
            })
        });
        let shards = shards.collect::<Result<_, StartError>>()?;
        Ok(Self {
            seed,
            world,
            directory,
            shards,
            turns: 0,
        })
    }

    /// Lets the shards take turns until `main` has ended.
    fn run_until<T>(&mut self, main: &JoinHandle<T>) -> Result<(), Stuck> {
        let mut ready = Vec::with_capacity(self.shards.len());
        while !main.is_finished() {
            if self.turns == TURNS_MAX {
                return Err(Stuck::Endless);
            }
            let now = self.world.now();
            ready.clear();
            ready.extend((0..self.shards.len()).filter(|&shard| self.shards[shard].is_ready(now)));
            if ready.is_empty() {
                let to = self.next_event().ok_or(Stuck::Stalled)?;
                self.world.advance(to);
                self.world.record(Event::Advance {
                    to_ns: to.as_nanos(),
                });
                continue;
            }
            self.turn(ready[self.world.choose(ready.len())]);
        }
        Ok(())
    }

    fn turn(&mut self, shard: usize) {
        let Member { context, pace } = &mut self.shards[shard];
        let _entered = enter(&self.directory, shard, context);
        let fired = context.counters().timers_fired.value();
        // Virtual time moves after every turn, of whichever shard.
        pace.time_passed();
        let polls = context.turn(pace).polls;
        let timers = context.counters().timers_fired.value() - fired;
        self.world.record(Event::Turn {
            shard,
            polls,
            timers,
        });
        self.world
            .advance(self.world.now().saturating_add(TURN_COST));
        self.turns += 1;
    }

    /// When the next timer or packet of any shard is due.
    fn next_event(&self) -> Option<Instant> {
        let timers = self
            .shards
            .iter()
            .filter_map(|member| member.context.next_deadline());
        timers.chain(self.world.next_delivery()).min()
    }

    /// Ends the shards: drops their tasks and closes their drivers.
    fn finish(&mut self) {
        let limit = self.directory.settings.shutdown_limit;
        for shard in 0..self.shards.len() {
            let finished = self.enter(shard, |context| shard::finish(context, limit));
            finished.expect("closing a simulated driver does not fail");
        }
    }

    /// Calls `f` inside a shard.
    fn enter<R>(&self, shard: usize, f: impl FnOnce(&Context) -> R) -> R {
        let context = &self.shards[shard].context;
        let _entered = enter(&self.directory, shard, context);
        f(context)
    }

    fn report(&self) -> SimReport {
        SimReport {
            seed: self.seed,
            trace_hash: self.world.trace_hash(),
            turns: self.turns,
            elapsed: Duration::from_nanos(self.world.now().as_nanos()),
        }
    }
}

impl Member {
    /// Whether a turn at `now` would find something to do.
    fn is_ready(&self, now: Instant) -> bool {
        let context = &self.context;
        context.has_work()
            || context.mailbox().has_news()
            || context.driver().needs_turn()
            || context.next_deadline().is_some_and(|due| due <= now)
    }
}

fn enter(directory: &Directory, shard: usize, context: &Rc<Context>) -> affinity::Entered {
    let affinity = directory.members[shard].affinity;
    affinity::enter(affinity, Rc::clone(context) as Rc<dyn Any>)
}

fn open(
    world: &Rc<World>,
    directory: &Directory,
    shard: usize,
) -> Result<Rc<Context>, DriverError> {
    let (settings, member) = (&directory.settings, &directory.members[shard]);
    let parts = DriverParts {
        bell: member.mailbox.bell(),
        counters: Arc::clone(&member.counters),
        ring_entries: settings.ring_entries,
        buffers: settings.buffers,
        buffer_bytes: settings.buffer_bytes,
        idle: IdlePolicy::Park,
    };
    let driver = SimDriver::open(world, shard, parts).map_err(DriverError::Sim)?;
    let reason = "asked for by the settings".to_owned();
    if member
        .driver
        .set(DriverInfo {
            name: "sim",
            reason,
        })
        .is_err()
    {
        unreachable!("a shard opens its driver once");
    }
    // What a runtime before left in its mailboxes would make this run another one.
    member.mailbox.clear_news();
    member.mailbox.collect(SLOTS_MAX, |_| ());
    let index = ShardIndex::new(shard);
    let driver = Driver::Sim(driver);
    Ok(Rc::new(Context::new(
        index,
        directory,
        driver,
        world.clock(),
    )))
}
