//! A runtime that runs: all shards on threads of their own, or with shard 0 on the caller's.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::mpsc::{self, Sender};
use std::task::{Context as TaskContext, Poll, Waker};
use std::thread::JoinHandle;
use std::time::Duration;

use thread_aware::affinity;
use thread_aware::registry::{current_mask, restore_mask};

use super::placement::Plan;
use super::thread::{self, guard};
use crate::directory::Directory;
use crate::error::{JoinError, Panic, ShutdownError, StartError};
use crate::mesh::OutsideShard;
use crate::metrics::Snapshot;
use crate::settings::{Driver, Settings};
use crate::shard::{self, ShardIndex};
use crate::time::Instant;

/// Threads of shards that wait for the word to go, or run.
struct Threads {
    handles: Vec<JoinHandle<()>>,
    go: Vec<Sender<()>>,
}

impl Threads {
    /// Starts the threads of the shards from `first` on and waits until each is ready.
    fn start(directory: &Directory, plan: &Plan, first: usize) -> Result<Self, StartError> {
        let mut threads = Self {
            handles: Vec::new(),
            go: Vec::new(),
        };
        let (report, reports) = mpsc::channel();
        let started = plan
            .seats
            .iter()
            .enumerate()
            .skip(first)
            .try_for_each(|(shard, &seat)| {
                let (go, gone) = mpsc::channel();
                let (directory, report) = (directory.clone(), report.clone());
                let index = ShardIndex::new(shard);
                let handle = std::thread::Builder::new()
                    .name(format!("corelane-{shard}"))
                    .spawn(move || thread::body(directory, index, seat, report, gone))
                    .map_err(|source| StartError::Shard { shard, source })?;
                threads.handles.push(handle);
                threads.go.push(go);
                Ok(())
            });
        drop(report);
        // All have reported or ended once the channel is closed or as many words have come.
        let ready = started.and_then(|()| {
            reports
                .iter()
                .take(threads.handles.len())
                .collect::<Result<Vec<()>, _>>()
        });
        match ready {
            Ok(ready) if ready.len() == threads.handles.len() => Ok(threads),
            Ok(_) => unreachable!("a shard's thread reports before it ends"),
            Err(error) => {
                threads.give_up();
                Err(error)
            }
        }
    }

    fn go(&mut self) {
        for go in self.go.drain(..) {
            go.send(())
                .expect("a shard that is ready waits for this word");
        }
    }

    /// Ends threads that were not told to go.
    fn give_up(self) {
        drop(self.go);
        self.handles.into_iter().for_each(join);
    }
}

/// A shard's thread catches its panics itself.
fn join(handle: JoinHandle<()>) {
    handle.join().expect("a shard's thread does not unwind");
}

/// Runs `main` on the calling thread as shard 0.
pub(super) fn run<F, Fut>(
    plan: Plan,
    settings: Settings,
    main: F,
) -> Result<Fut::Output, StartError>
where
    F: FnOnce() -> Fut + 'static,
    Fut: Future + 'static,
{
    if let Driver::Sim(seed) = settings.driver {
        return crate::sim::run(&plan, settings, seed, main).map(|(output, _)| output);
    }
    let mask = current_mask()?;
    let directory = thread::directory(&plan, settings)?;
    let first = ShardIndex::new(0);
    let seat = plan.seats[0];
    // The threads are made before this one is pinned: threads inherit the pin.
    let mut threads = Threads::start(&directory, &plan, 1)?;
    let context = match thread::prepare(&directory, first, seat) {
        Ok(context) => context,
        Err(error) => {
            threads.give_up();
            restore_mask(&mask)?;
            return Err(error);
        }
    };
    threads.go();
    let output = guard(first, || {
        let _entered = affinity::enter(seat.affinity, Rc::clone(&context) as Rc<dyn Any>);
        let output = match catch_unwind(AssertUnwindSafe(main)) {
            Err(panic) => Poll::Ready(Err(JoinError::Panicked(Panic::new(panic)))),
            Ok(main) => {
                let mut main = context.spawn(main);
                shard::run_until(&context, directory.settings.idle, || main.is_finished())?;
                Pin::new(&mut main).poll(&mut TaskContext::from_waker(Waker::noop()))
            }
        };
        directory.stop();
        shard::finish(&context, directory.settings.shutdown_limit)?;
        Ok(output)
    });
    let (running, in_flight) = thread::close(&directory, context);
    report_left(running, in_flight);
    if running == 0 {
        threads.handles.into_iter().for_each(join);
    }
    if seat.processor.is_some() {
        restore_mask(&mask)?;
    }
    match output {
        Poll::Ready(Ok(output)) => Ok(output),
        Poll::Ready(Err(JoinError::Panicked(panic))) => resume_unwind(panic.into_payload()),
        Poll::Ready(Err(JoinError::Cancelled)) | Poll::Pending => {
            unreachable!("main ends by itself: shards stop after it")
        }
    }
}

fn report_left(running: usize, in_flight: usize) {
    if running > 0 {
        tracing::error!(
            shards = running,
            "shards did not stop in time and are left behind"
        );
    }
    if in_flight > 0 {
        tracing::error!(operations = in_flight, "operations were left to the kernel");
    }
}

/// A runtime whose shards run on threads of their own, seen from outside.
///
/// Dropping it stops the shards as [`Running::shutdown`] does, without time for their tasks. On one
/// of its own shards the drop does not wait: the shards stop by themselves, that one after the poll
/// that it is in.
pub struct Running {
    directory: Directory,
    handles: Vec<JoinHandle<()>>,
}

impl Running {
    pub(super) fn start(plan: Plan, settings: Settings) -> Result<Self, StartError> {
        let directory = thread::directory(&plan, settings)?;
        directory.drains_by_itself();
        let mut threads = Threads::start(&directory, &plan, 0)?;
        threads.go();
        Ok(Self {
            directory,
            handles: threads.handles,
        })
    }

    /// The shards, in the order of their indices.
    pub fn shards(&self) -> impl ExactSizeIterator<Item = OutsideShard> {
        (0..self.directory.members.len()).map(|index| self.shard(index))
    }

    /// The shard with this index.
    ///
    /// # Panics
    ///
    /// When there is no such shard.
    #[must_use]
    pub fn shard(&self, index: usize) -> OutsideShard {
        assert!(
            index < self.directory.members.len(),
            "the runtime has no shard {index}"
        );
        OutsideShard::new(self.directory.clone(), ShardIndex::new(index))
    }

    /// Reads the counters of all shards, as [`metrics::snapshot`](crate::metrics::snapshot) does
    /// inside of them.
    #[must_use]
    pub fn metrics(&self) -> Snapshot {
        Snapshot::of(&self.directory)
    }

    /// Tells all tasks that wait in [`shutdown::wait`](crate::shutdown::wait), lets tasks end by
    /// themselves until `deadline` from now, drops the rest, and waits for the shards. Calls that
    /// were made before are tasks too.
    ///
    /// # Errors
    ///
    /// [`ShutdownError`] names what did not end: after `deadline` and the builder's
    /// `shutdown_limit` nothing more is waited for. [`ShutdownError::OnShard`] when a task of this
    /// runtime calls it: the end has begun then, and nobody waits for it.
    pub fn shutdown(mut self, deadline: Duration) -> Result<(), ShutdownError> {
        self.directory
            .drain(Instant::now().saturating_add(deadline));
        if self.leave_from_inside() {
            return Err(ShutdownError::OnShard);
        }
        self.end(deadline)
    }

    /// Lets the shards end by themselves if the calling thread is one of them: it would wait for
    /// itself.
    fn leave_from_inside(&mut self) -> bool {
        let here = std::thread::current().id();
        let inside = self.handles.iter().any(|shard| shard.thread().id() == here);
        if inside {
            self.handles.clear();
        }
        inside
    }

    fn end(&mut self, deadline: Duration) -> Result<(), ShutdownError> {
        let (running, in_flight) = self.directory.wait_stopped(deadline);
        let handles = std::mem::take(&mut self.handles);
        if running > 0 {
            return Err(ShutdownError::StillRunning { shards: running });
        }
        handles.into_iter().for_each(join);
        if in_flight > 0 {
            return Err(ShutdownError::InFlight {
                operations: in_flight,
            });
        }
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.handles.is_empty() {
            return;
        }
        self.directory.stop();
        if self.leave_from_inside() {
            return;
        }
        if let Err(error) = self.end(Duration::ZERO) {
            tracing::error!(%error, "a dropped runtime did not stop cleanly");
        }
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running")
            .field("shards", &self.handles.len())
            .finish_non_exhaustive()
    }
}
