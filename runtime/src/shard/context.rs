//! What a shard has, as its tasks see it.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Duration;

use super::mailbox::{self, Mailbox};
use super::{Shard, ShardIndex};
use crate::directory::{Directory, Member, Phase, Shared};
use crate::driver::Driver;
use crate::home::Residents;
use crate::local::Locals;
use crate::mesh::{Groups, Mesh};
use crate::metrics::ShardCounters;
use crate::sched::{Group, GroupId, Scheduler};
use crate::settings::IdlePolicy;
use crate::task::token::{SLOTS_MAX, Token};
use crate::task::{Blocks, JoinHandle, Ran, TaskRef, TaskTable, Traveller, wake_all, with_current};
use crate::time::{Clock, Instant, Timers};

/// Operations of leaf futures between two readings of the clock within one poll.
const BUDGET_OPERATIONS: u32 = 32;

/// A shard's parts. Entered with the shard's affinity while the shard's turn lasts; found again
/// through [`Context::with`].
pub(crate) struct Context {
    index: ShardIndex,
    mailbox: &'static Mailbox,
    directory: Directory,
    /// What is known of this shard, and the runtime's phase: looked at in every turn.
    own: Arc<Member>,
    shared: Arc<Shared>,
    counters: Arc<ShardCounters>,
    tasks: TaskTable,
    scheduler: Scheduler,
    blocks: Rc<Blocks>,
    clock: Clock,
    now: Cell<Instant>,
    timers: Rc<Timers>,
    driver: Driver,
    mesh: Mesh,
    /// What this shard has in flight in service groups.
    groups: Groups,
    budget: Budget,
    /// The task that is being polled.
    current: Cell<Option<TaskRef>>,
    /// Who waits for the shutdown's beginning.
    shutdown_waiters: RefCell<Vec<Waker>>,
    /// The shard's values that handles elsewhere stand for.
    residents: Residents,
    /// The shard's values of statics.
    locals: Locals,
    /// Nothing new is spawned: the shard drops its tasks.
    closing: Cell<bool>,
}

/// What is left of the current poll's time.
struct Budget {
    length: Duration,
    operations: Cell<u32>,
    /// Set at the first reading of the clock in a poll.
    until: Cell<Instant>,
}

impl Context {
    pub(crate) fn new(
        index: ShardIndex,
        directory: &Directory,
        driver: Driver,
        clock: Clock,
    ) -> Self {
        // This is its thread: from here on it reads tables in its own memory.
        let directory = directory.on(index);
        let own = Arc::clone(directory.member(index));
        let counters = Arc::clone(&own.counters);
        let now = clock.now();
        counters.started_ns.raise(now.as_nanos());
        Self {
            index,
            mailbox: *own.mailbox,
            tasks: TaskTable::default(),
            scheduler: Scheduler::new(),
            blocks: Rc::new(Blocks::new()),
            now: Cell::new(now),
            timers: Rc::new(Timers::new(now, Arc::clone(&counters))),
            clock,
            driver,
            mesh: Mesh::new(index, directory.clone()),
            groups: Groups::default(),
            budget: Budget {
                length: directory.settings.task_budget,
                operations: Cell::new(0),
                until: Cell::new(now),
            },
            current: Cell::new(None),
            shutdown_waiters: RefCell::default(),
            residents: Residents::default(),
            locals: Locals::default(),
            closing: Cell::new(false),
            counters,
            shared: Arc::clone(directory.shared()),
            own,
            directory,
        }
    }

    /// Calls `f` with the shard that this thread is in.
    ///
    /// # Panics
    ///
    /// Outside of the shards.
    #[inline]
    #[track_caller]
    pub(crate) fn with<R>(f: impl FnOnce(&Self) -> R) -> R {
        Self::try_with(f).expect("this call needs a shard: use it inside a Corelane runtime")
    }

    /// Calls `f` with the shard that this thread is in, if it is in one.
    #[inline]
    pub(crate) fn try_with<R>(f: impl FnOnce(&Self) -> R) -> Option<R> {
        with_current(f)
    }

    /// Wakes the task that `token` names, on any shard, from any thread.
    #[inline]
    pub(crate) fn wake(token: Token) {
        if Self::try_with(|context| context.wake_from(token)).is_none() {
            mailbox::leave(token).ring(None);
        }
    }

    /// As [`Context::wake`], by a caller that knows its shard.
    #[inline]
    pub(crate) fn wake_from(&self, token: Token) {
        if token.mailbox() == self.mailbox.id() {
            self.wake_here(token);
        } else {
            self.ring(mailbox::leave(token));
        }
    }

    /// Rings the shard of `mailbox` from this one if it sleeps, and counts it.
    pub(crate) fn ring(&self, mailbox: &'static Mailbox) {
        if mailbox.ring(Some(&self.driver)) {
            self.counters.rings_sent.add(1);
        } else {
            self.counters.rings_suppressed.add(1);
        }
    }

    /// Wakes a task of this shard: no atomic operation.
    #[inline]
    fn wake_here(&self, token: Token) {
        // A task that wakes itself is nearly the only one that is woken while it runs.
        let current = self
            .current
            .get()
            .filter(|task| task.header().token == token);
        let task = match current {
            None => self.tasks.exact(token.slot(), token.generation()),
            current => current,
        };
        if let Some(task) = task {
            self.enqueue(task);
        }
    }

    /// Puts a task into its group's queue unless it is in already.
    #[inline]
    fn enqueue(&self, task: TaskRef) {
        if !task.header().is_queued() {
            self.scheduler.push(task.header().group, task);
        }
    }

    /// Takes the wakes that others left.
    pub(super) fn collect_wakes(&self) {
        let mut count = 0;
        self.mailbox.collect(self.tasks.slots(), |slot| {
            count += 1;
            if let Some(task) = self.tasks.task(slot) {
                self.enqueue(task);
            }
        });
        if count > 0 {
            self.counters.foreign_wakes.add(count);
        }
    }

    /// Makes a task of `future` and puts it into the queue.
    ///
    /// On a shard that ends, the future is dropped at once and the handle says `Cancelled`.
    ///
    /// # Panics
    ///
    /// When the shard has 2^24 tasks.
    #[inline]
    pub(crate) fn spawn<F: Future + 'static>(&self, future: F) -> JoinHandle<F::Output> {
        let group = self
            .current
            .get()
            .map_or(GroupId::DEFAULT, |task| task.header().group);
        let Some((slot, generation)) = self.tasks.vacate(|slot| self.mailbox.reserve(slot)) else {
            panic!("a shard holds at most {SLOTS_MAX} tasks");
        };
        let token = Token::new(self.mailbox.id(), slot, generation);
        let task = TaskRef::new(&self.blocks, future, token, group);
        self.tasks.occupy(slot, task);
        self.counters.spawned.add(1);
        if self.closing.get() {
            task.cancel();
            self.end(task);
        } else {
            self.enqueue(task);
        }
        JoinHandle::new(task)
    }

    /// As [`Context::spawn`], without a handle.
    pub(crate) fn spawn_detached<F: Future + 'static>(&self, future: F) {
        self.spawn(future).detach();
    }

    /// Asks for a task's end between polls.
    pub(crate) fn abort(task: TaskRef) {
        task.header().abort();
        Self::wake(task.header().token);
    }

    /// Polls the next task of `group`. `false` when the group has none.
    #[inline]
    pub(super) fn run_next(&self, group: &Group) -> bool {
        let Some(task) = group.pop() else {
            return false;
        };
        let waker = crate::task::waker(task.header().token);
        self.budget.operations.set(0);
        self.current.set(Some(task));
        let ran = task.run(&mut TaskContext::from_waker(&waker));
        self.current.set(None);
        if ran == Ran::Done {
            self.end(task);
        } else if ran == Ran::Aborted {
            task.cancel();
            self.end(task);
        }
        true
    }

    /// Takes a task that is done out of the table.
    #[inline]
    fn end(&self, task: TaskRef) {
        self.counters.ended.publish(1);
        if task.header().has_panicked() {
            self.counters.panicked.add(1);
        }
        self.tasks.remove(task.header().token.slot());
        task.leave_table(self);
    }

    /// Drops all tasks. What their drops spawn is dropped at once.
    pub(super) fn cancel_all(&self) {
        self.closing.set(true);
        // A task that is dropped may be the last to hold another's handle, but only this loop takes
        // tasks out of the table.
        for task in self.tasks.all() {
            task.cancel();
            self.end(task);
        }
    }

    /// Counts one operation of a leaf future against the current poll's time. Pending says that the
    /// time is over: the task has been woken and comes again after the others.
    #[inline]
    pub(crate) fn poll_budget(cx: &TaskContext<'_>) -> Poll<()> {
        let spent = Self::try_with(|context| context.spend()).unwrap_or(false);
        if spent {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    #[inline]
    fn spend(&self) -> bool {
        let operations = self.budget.operations.get() + 1;
        self.budget.operations.set(operations);
        if !operations.is_multiple_of(BUDGET_OPERATIONS) {
            return false;
        }
        let now = self.clock.now();
        if operations == BUDGET_OPERATIONS {
            self.budget
                .until
                .set(now.saturating_add(self.budget.length));
            return false;
        }
        now >= self.budget.until.get()
    }

    /// Keeps `waker` until shutdown begins. `true` when it has begun.
    pub(crate) fn wait_shutdown(&self, waker: &Waker) -> bool {
        if self.phase() > Phase::Running {
            return true;
        }
        let mut waiters = self.shutdown_waiters.borrow_mut();
        if !waiters.iter().any(|known| known.will_wake(waker)) {
            waiters.push(waker.clone());
        }
        false
    }

    pub(super) fn wake_shutdown_waiters(&self) {
        let waiters = std::mem::take(&mut *self.shutdown_waiters.borrow_mut());
        wake_all(waiters);
    }

    /// Sends an answered item back, or gives it up outside of the shards.
    pub(crate) fn give_back(item: Traveller) {
        let mut item = Some(item);
        Self::try_with(|context| item.take().map(|item| context.mesh.give_back(item)));
        drop(item);
    }

    /// Whether a task may look at memory for a moment: the shard would spin, and nobody waits for
    /// it.
    pub(crate) fn may_spin(&self) -> bool {
        self.directory.settings.idle != IdlePolicy::Park
            && self.scheduler.is_empty()
            && !matches!(self.driver, Driver::Sim(_))
    }

    /// Reads the clock for this turn.
    pub(crate) fn refresh_now(&self) -> Instant {
        let now = self.clock.now();
        self.now.set(now);
        now
    }

    /// The time of this turn.
    pub(crate) fn now(&self) -> Instant {
        self.now.get()
    }

    pub(crate) fn current_token(&self) -> Option<Token> {
        self.current.get().map(|task| task.header().token)
    }

    pub(crate) fn shard(&self) -> Shard {
        Shard::new(self.directory.clone(), self.index)
    }

    #[inline]
    pub(crate) fn index(&self) -> ShardIndex {
        self.index
    }

    /// What everyone may know of this shard.
    #[inline]
    pub(crate) fn own(&self) -> &Member {
        &self.own
    }

    #[inline]
    pub(crate) fn phase(&self) -> Phase {
        self.shared.phase()
    }

    #[inline]
    pub(crate) fn directory(&self) -> &Directory {
        &self.directory
    }

    pub(crate) fn counters(&self) -> &Arc<ShardCounters> {
        &self.counters
    }

    pub(crate) fn mailbox(&self) -> &'static Mailbox {
        self.mailbox
    }

    pub(crate) fn tasks(&self) -> &TaskTable {
        &self.tasks
    }

    pub(crate) fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    pub(crate) fn blocks(&self) -> &Rc<Blocks> {
        &self.blocks
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(crate) fn timers(&self) -> &Rc<Timers> {
        &self.timers
    }

    pub(crate) fn driver(&self) -> &Driver {
        &self.driver
    }

    pub(crate) fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    pub(crate) fn groups(&self) -> &Groups {
        &self.groups
    }

    pub(crate) fn residents(&self) -> &Residents {
        &self.residents
    }

    pub(crate) fn locals(&self) -> &Locals {
        &self.locals
    }
}
