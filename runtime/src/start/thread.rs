//! A shard's thread: pin, open the driver, run, end.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use thread_aware::affinity;
use thread_aware::registry::pin_current_thread;

use super::choice::choose;
use super::placement::{Plan, Seat};
use crate::directory::{Directory, Member};
use crate::driver::{self, DriverParts};
use crate::error::{DriverError, StartError, contain, panic_message};
use crate::inbox::Inbox;
use crate::mesh::Doorbells;
use crate::settings::{Driver, Settings};
use crate::shard::mailbox::Mailbox;
use crate::shard::{self, Context, ShardIndex};
use crate::time::Clock;

/// The environment variable that decides [`Driver::Auto`].
const DRIVER_VARIABLE: &str = "CORELANE_DRIVER";

/// What the settings and the environment ask for.
pub(crate) fn decide(driver: Driver) -> Result<Driver, StartError> {
    if driver != Driver::Auto {
        return Ok(driver);
    }
    match std::env::var(DRIVER_VARIABLE) {
        Err(std::env::VarError::NotPresent) => Ok(Driver::Auto),
        Ok(name) if name == "uring" => Ok(Driver::Uring),
        Ok(name) if name == "epoll" => Ok(Driver::Epoll),
        Ok(name) if name == "auto" => Ok(Driver::Auto),
        Ok(name) => Err(StartError::DriverVariable(name)),
        Err(std::env::VarError::NotUnicode(name)) => Err(StartError::DriverVariable(
            name.to_string_lossy().into_owned(),
        )),
    }
}

/// The table of a runtime that is about to start.
pub(crate) fn directory(plan: &Plan, settings: Settings) -> Result<Directory, StartError> {
    let count = plan.seats.len();
    let members = plan.seats.iter().enumerate().map(|(shard, seat)| {
        Ok(Member {
            mailbox: Mailbox::lease().map_err(|source| StartError::Shard { shard, source })?,
            doorbells: Doorbells::new(count),
            inbox: Inbox::new(settings.inbox_capacity),
            counters: Arc::default(),
            affinity: seat.affinity,
            driver: std::sync::OnceLock::new(),
        })
    });
    let members = members.collect::<Result<_, StartError>>()?;
    Ok(Directory::new(members, settings))
}

/// Pins the calling thread and makes the shard's context with its driver.
pub(super) fn prepare(
    directory: &Directory,
    index: ShardIndex,
    seat: Seat,
) -> Result<Rc<Context>, StartError> {
    if let Some(processor) = seat.processor {
        pin_current_thread(processor)?;
    }
    let driver = open(directory, index).map_err(|source| StartError::Driver {
        shard: index.get(),
        source,
    })?;
    Ok(Rc::new(Context::new(index, directory, driver, Clock::Real)))
}

fn open(directory: &Directory, index: ShardIndex) -> Result<driver::Driver, DriverError> {
    let settings = &directory.settings;
    let member = directory.member(index);
    let parts = || DriverParts {
        bell: member.mailbox.bell(),
        counters: Arc::clone(&member.counters),
        ring_entries: settings.ring_entries,
        buffers: settings.buffers,
        buffer_bytes: settings.buffer_bytes,
        idle: settings.idle,
    };
    let (driver, info) = choose(
        settings.driver,
        &directory.shared().fallback_told,
        || driver::open_uring(parts()),
        || driver::open_epoll(parts()),
    )?;
    if member.driver.set(info).is_err() {
        unreachable!("a shard opens its driver once");
    }
    Ok(driver)
}

/// The body of a thread that is a shard and nothing else.
pub(super) fn body(
    directory: Directory,
    index: ShardIndex,
    seat: Seat,
    report: Sender<Result<(), StartError>>,
    go: Receiver<()>,
) {
    let context = match prepare(&directory, index, seat) {
        Ok(context) => context,
        Err(error) => {
            // The starter is gone only when another shard failed before.
            let _ = report.send(Err(error));
            return;
        }
    };
    // A starter that is gone, or goes without a word, has given the start up.
    if report.send(Ok(())).is_err() || go.recv().is_err() {
        return;
    }
    guard(index, || {
        let _entered = affinity::enter(seat.affinity, Rc::clone(&context) as Rc<dyn Any>);
        shard::run_until(&context, directory.settings.idle, || false)?;
        shard::finish(&context, directory.settings.shutdown_limit)
    });
    close(&directory, context);
}

/// Lets go of the context once no other shard needs the ring of this one.
pub(super) fn close(directory: &Directory, context: Rc<Context>) -> (usize, usize) {
    let left = directory.wait_stopped(Duration::ZERO);
    // Wakers of other executors may be left in it, and their drops are foreign code.
    contain("the end of a shard", || drop(context));
    left
}

/// Runs a shard. A panic or a broken driver outside of its tasks ends the process by name of the
/// shard, since other shards may wait for it for ever.
pub(super) fn guard<R>(index: ShardIndex, shard: impl FnOnce() -> io::Result<R>) -> R {
    let what = match catch_unwind(AssertUnwindSafe(shard)) {
        Ok(Ok(result)) => return result,
        Ok(Err(error)) => format!("its driver failed: {error}"),
        Err(panic) => format!("it panicked: {}", panic_message(&*panic)),
    };
    tracing::error!(shard = index.get(), what, "a shard ended; the process ends");
    eprintln!(
        "corelane: shard {} ended and takes the process with it: {what}",
        index.get()
    );
    std::process::abort();
}
