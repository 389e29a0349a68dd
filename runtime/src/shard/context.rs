//! What a shard has, as its tasks see it.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Duration;

use thread_aware::affinity;

use super::mailbox::{self, Mailbox};
use super::{Shard, ShardIndex};
use crate::directory::{Directory, Phase};
use crate::driver::Driver;
use crate::mesh::Mesh;
use crate::metrics::ShardCounters;
use crate::sched::{GroupId, Scheduler};
use crate::task::token::{SLOTS_MAX, Token};
use crate::task::{Blocks, JoinHandle, Reserved, TaskRef, TaskTable, Traveller};
use crate::time::{Clock, Instant, Timers};

/// Operations of leaf futures between two readings of the clock within one poll.
const BUDGET_OPERATIONS: u32 = 32;

/// A shard's parts. Entered with the shard's affinity while the shard's turn lasts; found again
/// through [`Context::with`].
pub(crate) struct Context {
    index: ShardIndex,
    mailbox: &'static Mailbox,
    directory: Arc<Directory>,
    counters: Arc<ShardCounters>,
    tasks: TaskTable,
    scheduler: Scheduler,
    blocks: Rc<Blocks>,
    clock: Clock,
    now: Cell<Instant>,
    timers: Rc<Timers>,
    driver: Driver,
    mesh: Mesh,
    budget: Budget,
    /// The task that is being polled.
    current: Cell<Option<(Token, GroupId)>>,
    /// Who waits for the shutdown's beginning.
    shutdown_waiters: RefCell<Vec<Waker>>,
    /// Nothing new is spawned: the shard drops its tasks.
    closing: Cell<bool>,
}

/// What is left of the current poll's time.
struct Budget {
    length: Duration,
    operations: Cell<u32>,
    until: Cell<Option<Instant>>,
}

impl Context {
    pub(crate) fn new(
        index: ShardIndex,
        directory: Arc<Directory>,
        driver: Driver,
        clock: Clock,
    ) -> Self {
        let member = directory.member(index);
        let counters = Arc::clone(&member.counters);
        let now = clock.now();
        counters.started_ns.raise(now.as_nanos());
        Self {
            index,
            mailbox: *member.mailbox,
            tasks: TaskTable::default(),
            scheduler: Scheduler::new(),
            blocks: Rc::new(Blocks::new()),
            now: Cell::new(now),
            timers: Rc::new(Timers::new(now, Arc::clone(&counters))),
            clock,
            driver,
            mesh: Mesh::new(index, Arc::clone(&directory)),
            budget: Budget {
                length: directory.settings.task_budget,
                operations: Cell::new(0),
                until: Cell::new(None),
            },
            current: Cell::new(None),
            shutdown_waiters: RefCell::default(),
            closing: Cell::new(false),
            counters,
            directory,
        }
    }

    /// Calls `f` with the shard that this thread is in.
    ///
    /// # Panics
    ///
    /// Outside of the shards.
    #[inline]
    pub(crate) fn with<R>(f: impl FnOnce(&Self) -> R) -> R {
        Self::try_with(f).expect("this call needs a shard: use it inside a Corelane runtime")
    }

    /// Calls `f` with the shard that this thread is in, if it is in one.
    #[inline]
    pub(crate) fn try_with<R>(f: impl FnOnce(&Self) -> R) -> Option<R> {
        affinity::with_context(|context: Option<&Self>| context.map(f))
    }

    /// Wakes the task that `token` names, on any shard, from any thread.
    #[inline]
    pub(crate) fn wake(token: Token) {
        if Self::try_with(|context| context.wake_from(token)).is_none() {
            mailbox::wake(token, None);
        }
    }

    /// As [`Context::wake`], by a caller that knows its shard.
    #[inline]
    pub(crate) fn wake_from(&self, token: Token) {
        if token.mailbox() == self.mailbox.id() {
            self.wake_here(token);
        } else if mailbox::wake(token, Some(&self.driver)) {
            self.counters.rings_sent.add(1);
        } else {
            self.counters.rings_suppressed.add(1);
        }
    }

    /// Wakes a task of this shard: no atomic operation.
    #[inline]
    fn wake_here(&self, token: Token) {
        if let Some(task) = self.tasks.exact(token.slot(), token.generation()) {
            self.enqueue(task);
        }
    }

    /// Puts a task into its group's queue unless it is in already.
    #[inline]
    fn enqueue(&self, task: TaskRef) {
        if !task.header().queued.get() {
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
        let Some(Reserved {
            slot,
            generation,
            is_new,
        }) = self.tasks.reserve()
        else {
            panic!("a shard holds at most {SLOTS_MAX} tasks");
        };
        if is_new {
            self.mailbox.reserve(slot);
        }
        let group = self
            .current
            .get()
            .map_or(GroupId::DEFAULT, |(_, group)| group);
        let token = Token::new(self.mailbox.id(), slot, generation);
        let task = TaskRef::new(self, future, token, group);
        self.tasks.put(slot, task);
        self.counters.spawned.add(1);
        if self.closing.get() {
            self.end(task, TaskRef::cancel);
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
        task.header().aborted.set(true);
        Self::wake(task.header().token);
    }

    /// Polls the next task of `group`. `false` when the group has none.
    #[inline]
    pub(super) fn run_next(&self, group: GroupId) -> bool {
        let Some(task) = self.scheduler.pop(group) else {
            return false;
        };
        if task.is_done() {
            task.release();
            return true;
        }
        let header = task.header();
        self.counters.polls.add(1);
        if header.aborted.get() {
            self.end(task, TaskRef::cancel);
            return true;
        }
        let waker = crate::task::waker(header.token);
        self.budget.operations.set(0);
        self.budget.until.set(None);
        self.current.set(Some((header.token, group)));
        let poll = task.poll(&mut TaskContext::from_waker(&waker));
        self.current.set(None);
        if poll.is_ready() {
            self.end(task, |_| ());
        } else if header.aborted.get() {
            self.end(task, TaskRef::cancel);
        }
        true
    }

    /// Ends a task that is still in the table.
    #[inline]
    fn end(&self, task: TaskRef, how: impl FnOnce(&TaskRef)) {
        how(&task);
        self.counters.ended.add(1);
        if task.has_panicked() {
            self.counters.panicked.add(1);
        }
        self.tasks.remove(task.header().token.slot());
        task.settle(self);
        task.leave_table();
    }

    /// Drops all tasks. What their drops spawn is dropped at once.
    pub(super) fn cancel_all(&self) {
        self.closing.set(true);
        // A task that is dropped may be the last to hold another's handle, but only this loop takes
        // tasks out of the table.
        for task in self.tasks.all() {
            self.end(task, TaskRef::cancel);
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
        match self.budget.until.get() {
            None => {
                self.budget
                    .until
                    .set(Some(now.saturating_add(self.budget.length)));
                false
            }
            Some(until) => now >= until,
        }
    }

    /// Keeps `waker` until shutdown begins. `true` when it has begun.
    pub(crate) fn wait_shutdown(&self, waker: &Waker) -> bool {
        if self.directory.phase() > Phase::Running {
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
        waiters.into_iter().for_each(Waker::wake);
    }

    /// Sends an answered item back, or gives it up outside of the shards.
    pub(crate) fn give_back(item: Traveller) {
        let mut item = Some(item);
        Self::try_with(|context| item.take().map(|item| context.mesh.give_back(item)));
        drop(item);
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
        self.current.get().map(|(token, _)| token)
    }

    pub(crate) fn shard(&self) -> Shard {
        Shard::new(Arc::clone(&self.directory), self.index)
    }

    pub(crate) fn index(&self) -> ShardIndex {
        self.index
    }

    pub(crate) fn directory(&self) -> &Arc<Directory> {
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
}
